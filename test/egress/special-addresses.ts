import { isContactable } from "../../src/egress/address-policy.ts";
import { fixture } from "../support/fixture.ts";

/**
 * A second, simple and slow reading of the list of special addresses, to check the first. Here an address is
 * a bigint, and a block is its first and last address.
 */
export interface SpecialBlock {
  text: string;
  name: string;
  family: 4 | 6;
  first: bigint;
  last: bigint;
}

const ISATAP = "*:0:5efe:*.*/ISATAP";
const OUTSIDE = "everything outside 2000::/3";

/** The list of the fixture: one `[block, name]` for each line. */
export function rows(): [block: string, name: string][] {
  const [, ...lines] = fixture("special-addresses.csv").trim().split(/\r?\n/);
  return lines.map((line) => {
    const [, block = "", quoted, plain] = /^([^,]*),(?:"([^"]*)"|([^,]*)),/.exec(line) ?? [];
    return [block, quoted ?? plain ?? ""];
  });
}

/** The lines with blocks of addresses. The two other lines are rules. */
export const BLOCKS: SpecialBlock[] = rows()
  .filter(([text]) => text !== ISATAP && text !== OUTSIDE)
  .map(([text, name]) => {
    const [address = "", bits = ""] = text.split("/");
    const family = address.includes(":") ? 6 : 4;
    const size = 1n << BigInt((family === 6 ? 128 : 32) - Number(bits));
    const first = family === 6 ? numberOf6(address) : numberOf4(address);
    return { text, name, family, first, last: first + size - 1n };
  });

export function isPublicByTheList(family: 4 | 6, address: bigint): boolean {
  const isListed = BLOCKS.some(
    (b) => b.family === family && b.first <= address && address <= b.last,
  );
  if (family === 4) return !isListed;

  const interfaceId = (address >> 32n) & 0xffff_ffffn;
  const isIsatap = interfaceId === 0x0000_5efen || interfaceId === 0x0200_5efen;
  return address >> 125n === 0b001n && !isIsatap && !isListed;
}

export function text4(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 0xffn)).join(".");
}

/** All eight groups without `::`. Every program reads this form, and none writes it. */
export function text6(address: bigint): string {
  const shifts = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n];
  return shifts.map((shift) => ((address >> shift) & 0xffffn).toString(16)).join(":");
}

/** The same with its last 32 bits in dotted decimals. */
export function dottedText6(address: bigint): string {
  const groups = text6(address).split(":").slice(0, 6);
  return [...groups, text4(address & 0xffff_ffffn)].join(":");
}

/** The form of resolvers and sockets, which shorten the longest run of zeros. */
export function shortText6(address: bigint): string {
  return new URL(`https://[${text6(address)}]`).hostname.slice(1, -1);
}

function numberOf4(text: string): bigint {
  return text.split(".").reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

function numberOf6(text: string): bigint {
  const [head = [], tail = []] = text.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].reduce(
    (sum, group) => sum * 65536n + BigInt(`0x${group}`),
    0n,
  );
}

/** The verdict of our policy without the operator's exceptions. */
export function isPublic(address: string): boolean {
  return isContactable(address, { allow: [], deny: [] });
}
