import { connect, isIP, type Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { ANY_SOURCE, type EgressSource } from "./egress-source.ts";
import { parseAddress } from "./ip-address.ts";
import type { FailureReason } from "../domain/outcome.ts";
import { AttemptFailed, unreachable } from "./attempt-failed.ts";
import type { Deadline } from "./deadline.ts";
import { codeOf } from "../lib/code-of.ts";
import { type DialError, outcomeOfDial, type LocalChecks } from "./outcome-of-error.ts";
import { createLocalChecks } from "./local-checks.ts";

/** If an address has not connected after this time, the next one is tried as well. */
const HEAD_START_MS = 250;
/** No host needs more. A name must not make us dial hundreds of addresses. */
const ADDRESSES_MAX = 16;

/** Bounds the number of open sockets. */
export interface Room {
  /** Makes room for a socket if it can. Returns true if an attempt may try another address at the same time. */
  makeRoom: () => boolean;
  /** Counts the socket until it closes. */
  hold: (socket: Socket) => void;
}

const ANY_ROOM: Room = { makeRoom: () => true, hold: () => undefined };

/**
 * Returns a TCP connection to the first of the addresses that accepts one. Tries IPv4 first, and looks nothing up. The peer is
 * checked to be one of the addresses before a byte is sent.
 */
export async function dial(
  addresses: readonly string[],
  port: number,
  deadline: Deadline,
  {
    room = ANY_ROOM,
    source = ANY_SOURCE,
    localChecks = createLocalChecks(source),
  }: { room?: Room; source?: EgressSource; localChecks?: LocalChecks } = {},
): Promise<{ socket: Socket; address: string }> {
  return new Promise((resolve, reject) => {
    const waiting = inTurn(addresses);
    const racing = new Set<Socket>();
    const errors: DialError[] = [];
    let timer: NodeJS.Timeout | undefined;

    deadline.guard(fail);
    next();

    function next(): void {
      clearTimeout(timer);
      const address = waiting.shift();
      if (address !== undefined) {
        if (racing.size > 0 && !room.makeRoom()) giveUpSlowest();
        race(address);
        if (waiting.length > 0) timer = setTimeout(next, HEAD_START_MS);
      } else if (racing.size === 0) {
        void outcomeOfDial(errors, localChecks).then((outcome) => fail(new AttemptFailed(outcome)));
      }
    }

    function race(address: string): void {
      const localAddress = (isIP(address) === 6 ? source.ipv6 : source.ipv4) ?? undefined;
      const socket = connect({ host: address, port, noDelay: true, localAddress });
      racing.add(socket);
      room.hold(socket);
      socket.once("error", (error) => {
        racing.delete(socket);
        errors.push({ code: codeOf(error), family: isIP(address) === 6 ? 6 : 4 });
        next();
      });
      socket.once("connect", () => {
        const fault = faultOfPeer(socket.remoteAddress, address);
        if (fault !== null) {
          fail(new AttemptFailed(unreachable(fault)));
          return;
        }
        racing.delete(socket);
        stop();
        resolve({ socket: forget(socket), address });
      });
    }

    function giveUpSlowest(): void {
      const [slowest] = racing;
      if (slowest === undefined) return;
      racing.delete(slowest);
      forget(slowest).destroy();
    }

    function fail(why: AttemptFailed): void {
      stop();
      reject(why);
    }

    function stop(): void {
      waiting.length = 0;
      clearTimeout(timer);
      for (const socket of racing) forget(socket).destroy();
      racing.clear();
    }
  });
}

/** IPv4 first: hosts that have both are more often reachable by it, and a missing IPv6 route then costs nothing. */
function inTurn(addresses: readonly string[]): string[] {
  const ipv4 = addresses.filter((address) => isIP(address) === 4);
  const ipv6 = addresses.filter((address) => isIP(address) === 6);
  return [...ipv4, ...ipv6].slice(0, ADDRESSES_MAX);
}

/** Something between us and the network may redirect a connection to an address that was not vetted. */
function faultOfPeer(peer: string | undefined, address: string): FailureReason | null {
  if (peer === undefined) return "connection_reset"; // Closed already.
  return isSameAddress(peer, address) ? null : "address_not_public";
}

/** Compares addresses in any spelling: the system writes `::ffff:7f00:1` as `::ffff:127.0.0.1`. */
function isSameAddress(one: string, other: string): boolean {
  const address = parseAddress(one);
  return address !== null && isDeepStrictEqual(address, parseAddress(other));
}

/** Removes our listeners and ignores errors of a socket that lost. TLS reports those of the one that won. */
function forget(socket: Socket): Socket {
  return socket
    .removeAllListeners("error")
    .removeAllListeners("connect")
    .on("error", () => undefined);
}
