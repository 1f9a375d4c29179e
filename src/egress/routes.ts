import { createReadStream } from "node:fs";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";

/** The parts of the routing table that show if this machine has lost its IPv4 route. */
export interface OwnNetwork {
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
  const [ipv4Routes, ipv6Routes] = await Promise.all([
    readTable("/proc/net/route"),
    readTable("/proc/net/ipv6_route"),
  ]);
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const hasIpv4Address = addresses.some(({ family, internal }) => family === "IPv4" && !internal);
  return { ipv4Routes, ipv6Routes, hasIpv4Address };
}

/**
 * Returns true if an IPv4 route to the internet is missing, although there should be one. On a machine with IPv6 only, or with
 * routes to a few networks, a destination without a route is the partner's choice and no internal fault.
 */
export function hasLostIpv4({ ipv4Routes, ipv6Routes, hasIpv4Address }: OwnNetwork): boolean {
  if (ipv4Routes === null || rowsOf(ipv4Routes).some(leadsOutByIpv4)) return false;
  return hasIpv4Address || !rowsOf(ipv6Routes ?? "").some(leadsOutByIpv6);
}

/** The columns: device, destination, gateway, flags, three counters, mask. */
function leadsOutByIpv4([device, , , flags = "", , , , mask = ""]: string[]): boolean {
  const bits = Number(`0x${mask}`).toString(2).replaceAll("0", "").length;
  return leadsOut({ device, flags, bits });
}

/** The columns: destination, bits, source, bits, next hop, metric, two counters, flags, device. */
function leadsOutByIpv6([, bits = "", , , , , , , flags = "", device]: string[]): boolean {
  return leadsOut({ device, flags, bits: Number(`0x${bits}`) });
}

/** Routes that discard packets have no device, or the loopback device. */
function leadsOut(route: { device: string | undefined; flags: string; bits: number }): boolean {
  const { device = "*", bits } = route;
  const flags = Number(`0x${route.flags}`);
  if (device === "*" || device === "lo" || !(flags & UP)) return false;
  return (flags & GATEWAY) !== 0 || bits <= DEFAULT_BITS_MAX;
}

function rowsOf(table: string): string[][] {
  return table.split("\n").map((line) => line.trim().split(/\s+/));
}

async function readTable(path: string): Promise<string | null> {
  try {
    return await text(createReadStream(path, { end: TABLE_BYTES_MAX }));
  } catch {
    return null;
  }
}
