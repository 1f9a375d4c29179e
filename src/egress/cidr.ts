import { type Address, parseAddress, unmapped, type Words } from "./ip-address.ts";

/** A block of addresses of one family. */
export interface Cidr {
  family: 4 | 6;
  network: Words;
  mask: Words;
}

const BITS = /^(?:0|[1-9][0-9]{0,2})$/;

/**
 * Reads `10.0.0.0/8` or `fd00::/8`. Returns null if the prefix is missing or if bits are set beyond
 * it, since both are probably typing errors.
 */
export function parseCidr(text: string): Cidr | null {
  const [address = "", bits = "", more] = text.split("/", 3);
  const parsed = parseAddress(address);
  if (parsed === null || more !== undefined || !BITS.test(bits)) return null;

  const { family, words: network } = parsed;
  const prefix = Number(bits);
  if (prefix > (family === 4 ? 32 : 128)) return null;

  const cidr: Cidr = { family, network, mask: maskOf(prefix) };
  return contains(cidr, parsed) ? cidr : null;
}

/** Returns the IPv4 block that a block of `::ffff:a.b.c.d` stands for, and any other block unchanged. */
export function unmappedBlock(cidr: Cidr): Cidr {
  const plain = unmapped({ family: cidr.family, words: cidr.network });
  if (plain === null || cidr.mask[2] !== ALL_BITS) return cidr;
  return { family: 4, network: plain.words, mask: [cidr.mask[3], 0, 0, 0] };
}

const ALL_BITS = -1;

/** False across families: `::/0` contains no IPv4 address. */
export function contains(
  { family, network, mask }: Cidr,
  { family: theirs, words }: Address,
): boolean {
  return (
    family === theirs &&
    (words[0] & mask[0]) === network[0] &&
    (words[1] & mask[1]) === network[1] &&
    (words[2] & mask[2]) === network[2] &&
    (words[3] & mask[3]) === network[3]
  );
}

/** Returns true if a block is larger than every private network, and so probably too large by mistake. */
export function isWide({ family, mask: [first] }: Cidr): boolean {
  const widest = family === 4 ? 8 : 7; // 10.0.0.0/8, fc00::/7
  return first >>> (32 - widest) !== 2 ** widest - 1;
}

function maskOf(prefix: number): Words {
  const word = (bits: number) => (bits <= 0 ? 0 : -1 << Math.max(32 - bits, 0));
  return [word(prefix), word(prefix - 32), word(prefix - 64), word(prefix - 96)];
}
