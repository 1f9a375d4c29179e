import { connect, isIP, type Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { ANY_SOURCE, type EgressSource } from "../domain/egress-source.ts";
import { parseAddress } from "../domain/ip-address.ts";
import type { FailureReason } from "../domain/outcome.ts";
import { AttemptFailed, unreachable } from "./attempt-failed.ts";
import type { Deadline } from "./deadline.ts";
import { codeOf, type DialError, outcomeOfDial, type OwnSide } from "./outcome-of-error.ts";
import { createOwnSide } from "./own-side.ts";

/** An address that has not answered by then is raced by the next one. */
const HEAD_START_MS = 250;
/** Nobody's host needs more, and a name must not make us knock on hundreds of doors. */
const ADDRESSES_MAX = 16;

/** Bounds how many sockets are open at once. */
export interface Room {
  /** Whether another address may be tried beside those that an attempt tries already. */
  hasSpare: () => boolean;
  /** The socket takes room until it closes. */
  hold: (socket: Socket) => void;
}

const ANY_ROOM: Room = { hasSpare: () => true, hold: () => undefined };

/**
 * A TCP connection to the first of the addresses that answers. They are tried in turn, IPv4 first,
 * and nothing is looked up. Not a byte has been written when this resolves: the peer is known to be
 * one of the addresses before it hears anything from us.
 */
export async function dial(
  addresses: readonly string[],
  port: number,
  deadline: Deadline,
  {
    room = ANY_ROOM,
    source = ANY_SOURCE,
    ownSide = createOwnSide(source),
  }: { room?: Room; source?: EgressSource; ownSide?: OwnSide } = {},
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
        if (racing.size > 0 && !room.hasSpare()) giveUpSlowest();
        race(address);
        if (waiting.length > 0) timer = setTimeout(next, HEAD_START_MS);
      } else if (racing.size === 0) {
        void outcomeOfDial(errors, ownSide).then((outcome) => fail(new AttemptFailed(outcome)));
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

/** IPv4 first: a host that has both is likelier to be reached by it, and a missing route to IPv6 costs nothing. */
function inTurn(addresses: readonly string[]): string[] {
  const ipv4 = addresses.filter((address) => isIP(address) === 4);
  const ipv6 = addresses.filter((address) => isIP(address) === 6);
  return [...ipv4, ...ipv6].slice(0, ADDRESSES_MAX);
}

/** Something between us and the network may send us elsewhere: that is nobody whom we have vetted. */
function faultOfPeer(peer: string | undefined, address: string): FailureReason | null {
  if (peer === undefined) return "connection_reset"; // Gone already.
  return isSameAddress(peer, address) ? null : "address_not_public";
}

/** Whatever their spelling: the system writes `::ffff:7f00:1` as `::ffff:127.0.0.1`. */
function isSameAddress(one: string, other: string): boolean {
  const address = parseAddress(one);
  return address !== null && isDeepStrictEqual(address, parseAddress(other));
}

/** A socket that has lost the race may fail as it pleases. What happens to the one that won TLS reports. */
function forget(socket: Socket): Socket {
  return socket
    .removeAllListeners("error")
    .removeAllListeners("connect")
    .on("error", () => undefined);
}
