import { createReadStream } from "node:fs";
import { connect, isIP, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { parseAddress } from "../lib/ip-address.ts";
import { codeOf } from "../lib/objects.ts";
import {
  DEFERRED,
  internalFault,
  NETWORK_ERROR,
  type Outcome,
  outcomeOfError,
  PostFailed,
  resetIn,
  unreachable,
} from "./outcome.ts";
import type { Deadline } from "./post.ts";

/** If an address has not connected after this time, the next one is tried as well. */
const HEAD_START_MS = 250;
/** No host needs more. A name must not make us dial hundreds of addresses. */
const ADDRESSES_MAX = 16;

/** The local addresses to send from. Null: the system chooses, for that family. */
export interface Source {
  ipv4: string | null;
  ipv6: string | null;
}

/** Bounds the number of open sockets. */
export interface Room {
  /** Makes room for a socket if it can. Returns true if a post may try another address at the same time. */
  makeRoom: () => boolean;
  /** Counts the socket until it closes. */
  hold: (socket: Socket) => void;
}

interface Way {
  room?: Room;
  source?: Source | undefined;
  localChecks?: LocalChecks;
}

/**
 * Returns a TCP connection to the first of the addresses that accepts one. Tries IPv4 first, and looks nothing up. The peer is
 * checked to be one of the addresses before a byte is sent.
 */
export async function dial(
  addresses: readonly string[],
  port: number,
  deadline: Deadline,
  { room, source = { ipv4: null, ipv6: null }, localChecks = createLocalChecks(source) }: Way = {},
): Promise<{ socket: Socket; address: string }> {
  return new Promise((resolve, reject) => {
    const waiting = interleaved(addresses);
    const racing = new Set<Socket>();
    const errors: DialError[] = [];
    let timer: NodeJS.Timeout | undefined;

    deadline.guard(fail);
    next();

    function next(): void {
      clearTimeout(timer);
      const address = waiting.shift();
      if (address !== undefined) {
        if (racing.size > 0 && room?.makeRoom() === false) giveUpSlowest();
        race(address);
        if (waiting.length > 0) timer = setTimeout(next, HEAD_START_MS);
      } else if (racing.size === 0) {
        void outcomeOfDial(errors, localChecks).then((outcome) => fail(new PostFailed(outcome)));
      }
    }

    function race(address: string): void {
      const family = isIP(address) === 6 ? 6 : 4;
      const localAddress = source[`ipv${family}`] ?? undefined;
      const socket = connect({ host: address, port, noDelay: true, localAddress });
      racing.add(socket);
      room?.hold(socket);
      socket.once("error", (error) => {
        racing.delete(socket);
        errors.push({ code: codeOf(error), family });
        next();
      });
      socket.once("connect", () => {
        const fault = faultOfPeer(socket.remoteAddress, address);
        if (fault !== null) {
          fail(new PostFailed(fault));
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

    function fail(why: PostFailed): void {
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
function interleaved(addresses: readonly string[]): string[] {
  return addresses.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, ADDRESSES_MAX);
}

/** Something between us and the network may redirect a connection to an address that was not vetted. */
function faultOfPeer(peer: string | undefined, address: string): Outcome | null {
  if (peer === undefined) return resetIn("connect"); // Closed already.
  // The system writes `::ffff:7f00:1` as `::ffff:127.0.0.1`.
  const parsed = parseAddress(peer);
  const isSame = parsed !== null && isDeepStrictEqual(parsed, parseAddress(address));
  return isSame ? null : unreachable("address_not_public");
}

/** Removes our listeners and ignores errors of a socket that lost. TLS reports those of the one that won. */
function forget(socket: Socket): Socket {
  return socket
    .removeAllListeners("error")
    .removeAllListeners("connect")
    .on("error", () => undefined);
}

/** An address that we could not connect to. */
export interface DialError {
  code: string;
  family: 4 | 6;
}

/** Returns the outcome if we could not connect to any address of a host. */
export async function outcomeOfDial(errors: DialError[], checks: LocalChecks): Promise<Outcome> {
  const outcomes = await Promise.all(errors.map((error) => outcomeOf(error, checks)));
  return (
    outcomes.find(({ kind }) => kind === "internal-fault") ??
    outcomes.find(({ kind }) => kind === "deferred") ??
    outcomes.find((outcome) => outcome !== NETWORK_ERROR) ??
    NETWORK_ERROR
  );
}

/**
 * An unreachable IPv6 address is no internal fault, because machines without IPv6 are common. The exception is a lost source
 * address. For IPv4, the local checks must confirm the fault, since both codes are ambiguous. Routers report a receiver's network as
 * a lost route (ENETUNREACH). Linux reports one destination without free ports as if no port were left (EADDRNOTAVAIL).
 */
async function outcomeOf({ code, family }: DialError, checks: LocalChecks): Promise<Outcome> {
  if (family === 4 && code === "ENETUNREACH" && (await checks.hasLostIpv4()))
    return internalFault("no_route");
  if (family === 4 && code === "EADDRNOTAVAIL")
    return (await checks.hasPorts()) ? DEFERRED : internalFault("no_ports");
  if (family === 6 && code === "EADDRNOTAVAIL" && (await checks.hasLostIpv6Source()))
    return internalFault("no_ports");
  return outcomeOfError({ code }, "connect");
}

/** Checks of this machine, for errors whose cause may be here or at the destination. */
export interface LocalChecks {
  hasLostIpv4: () => Promise<boolean>;
  /** Returns true if connections to other destinations get a port. */
  hasPorts: () => Promise<boolean>;
  /** Returns true if our IPv6 source address is gone. */
  hasLostIpv6Source: () => Promise<boolean>;
}

export function createLocalChecks({ ipv4, ipv6 }: Source): LocalChecks {
  return {
    hasLostIpv4: async () => hasLostIpv4(await readOwnNetwork()),
    hasPorts: () => hasPorts("127.0.0.1", ipv4),
    hasLostIpv6Source: async () => ipv6 !== null && !(await hasPorts("::1", ipv6)),
  };
}

/** No service listens at this port. A refused connection takes a local port, too. */
const NOBODYS_PORT = 1;

async function hasPorts(host: string, source: string | null): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: NOBODYS_PORT, localAddress: source ?? undefined });
    socket.once("error", (error) => resolve(codeOf(error) !== "EADDRNOTAVAIL"));
    setImmediate(() => {
      resolve(true); // If the system has no port, it says so at once.
      socket.destroy();
    });
  });
}

/** What shows if this machine has lost its IPv4 route. */
interface OwnNetwork {
  /** The tables of /proc/net. Null if the system has none. */
  ipv4Routes: string | null;
  ipv6Routes: string | null;
  /** True if there is an address other than loopback. */
  hasIpv4Address: boolean;
}

const UP = 0x1;
const GATEWAY = 0x2;
/** The mask of a default route, or of each half if a VPN splits it in two. */
const DEFAULT_BITS_MAX = 1;
/** A longer table is taken to have a route. */
const TABLE_BYTES_MAX = 64 * 1024;

export async function readOwnNetwork(): Promise<OwnNetwork> {
  const readTable = (name: string) =>
    text(createReadStream(`/proc/net/${name}`, { end: TABLE_BYTES_MAX })).catch(() => null);
  const [ipv4Routes, ipv6Routes] = [await readTable("route"), await readTable("ipv6_route")];
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const hasIpv4Address = addresses.some(({ family, internal }) => family === "IPv4" && !internal);
  return { ipv4Routes, ipv6Routes, hasIpv4Address };
}

/**
 * Returns true if an IPv4 route to the internet is missing, although there should be one. On a machine with IPv6 only, or with
 * routes to a few networks, a destination without a route is the receiver's choice and no internal fault.
 */
export function hasLostIpv4({ ipv4Routes, ipv6Routes, hasIpv4Address }: OwnNetwork): boolean {
  // The columns: device, destination, gateway, flags, three counters, mask.
  const leadsOutByIpv4 = ([device, , , flags, , , , mask = ""]: string[]) =>
    leadsOut(device, flags, Number(`0x${mask}`).toString(2).replaceAll("0", "").length);
  // The columns: destination, bits, source, bits, next hop, metric, two counters, flags, device.
  const leadsOutByIpv6 = ([, bits = "", , , , , , , flags, device]: string[]) =>
    leadsOut(device, flags, Number(`0x${bits}`));

  if (ipv4Routes === null || rowsOf(ipv4Routes).some(leadsOutByIpv4)) return false;
  return hasIpv4Address || !rowsOf(ipv6Routes ?? "").some(leadsOutByIpv6);
}

/** Routes that discard packets have no device, or the loopback device. */
function leadsOut(device = "*", flags = "", bits: number): boolean {
  if (device === "*" || device === "lo" || !(Number(`0x${flags}`) & UP)) return false;
  return (Number(`0x${flags}`) & GATEWAY) !== 0 || bits <= DEFAULT_BITS_MAX;
}

function rowsOf(table: string): string[][] {
  return table.split("\n").map((line) => line.trim().split(/\s+/));
}
