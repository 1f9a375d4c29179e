import { type Address, parseAddress, unmapped, type Words } from "./ip-address.ts";

/** A block of addresses of one family. */
export interface Cidr {
  family: 4 | 6;
  network: Words;
  mask: Words;
}

const BITS = /^(?:0|[1-9][0-9]{0,2})$/;

/**
 * Reads `10.0.0.0/8` or `fd00::/8`. Null when it is no block: also when bits are set beyond the
 * prefix or when the prefix is missing, since either is more likely a slip than an intention.
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

/** A block of `::ffff:a.b.c.d` as the block of IPv4 that it means; any other as it is. */
export function unmappedBlock(cidr: Cidr): Cidr {
  const plain = unmapped({ family: cidr.family, words: cidr.network });
  if (plain === null || cidr.mask[2] !== ALL_BITS) return cidr;
  return { family: 4, network: plain.words, mask: [cidr.mask[3], 0, 0, 0] };
}

const ALL_BITS = -1;

/** Never true across families: `::/0` holds no IPv4 address. */
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

function maskOf(prefix: number): Words {
  const word = (bits: number) => (bits <= 0 ? 0 : -1 << Math.max(32 - bits, 0));
  return [word(prefix), word(prefix - 32), word(prefix - 64), word(prefix - 96)];
}
