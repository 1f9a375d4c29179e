/** 128 bits as four signed 32-bit integers, as bit operators return them. IPv4 uses the first. */
type Words = readonly [number, number, number, number];

export interface Address {
  family: 4 | 6;
  words: Words;
}

/** A block of addresses of one family. */
export interface Cidr {
  family: 4 | 6;
  network: Words;
  mask: Words;
}

const BITS = /^(?:0|[1-9][0-9]{0,2})$/;
const BYTE = "(0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])";
const FOUR_BYTES = new RegExp(`^${BYTE}\\.${BYTE}\\.${BYTE}\\.${BYTE}$`);
const HEXTETS = /^[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*$/i;
const ZEROS = [0, 0, 0, 0, 0, 0, 0, 0];

/**
 * Reads an address as DNS and sockets write it: four decimals, or IPv6 in a form of RFC 4291.
 * Returns null for anything else, such as octal or short IPv4, brackets and zone ids.
 */
export function parseAddress(text: string): Address | null {
  if (text.includes(":")) {
    const words = parseIPv6(text);
    return words === null ? null : { family: 6, words };
  }
  const word = parseIPv4(text);
  return word === null ? null : { family: 4, words: [word, 0, 0, 0] };
}

/** The IPv4 address that `::ffff:a.b.c.d` stands for, or null. Both lead to the same machine. */
export function unmapped({ words: [a, b, c, d] }: Address): Address | null {
  return a === 0 && b === 0 && c === 0xffff ? { family: 4, words: [d, 0, 0, 0] } : null;
}

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
  if (plain === null || cidr.mask[2] !== -1) return cidr;
  return { family: 4, network: plain.words, mask: [cidr.mask[3], 0, 0, 0] };
}

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

function parseIPv4(text: string): number | null {
  const match = FOUR_BYTES.exec(text);
  if (match === null) return null;
  const [, a, b, c, d] = match;
  return (Number(a) << 24) | (Number(b) << 16) | (Number(c) << 8) | Number(d);
}

function parseIPv6(text: string): Words | null {
  const hexadecimal = withoutDots(text);
  if (hexadecimal === null) return null;

  const gap = hexadecimal.indexOf("::");
  if (gap === -1) {
    const all = hextets(hexadecimal);
    return all?.length === 8 ? toWords(all) : null;
  }
  const head = hextets(hexadecimal.slice(0, gap));
  const tail = hextets(hexadecimal.slice(gap + 2));
  if (head === null || tail === null || head.length + tail.length > 7) return null;
  return toWords([...head, ...ZEROS.slice(head.length + tail.length), ...tail]);
}

/** Rewrites a trailing `a.b.c.d` as two hextets. */
function withoutDots(text: string): string | null {
  if (!text.includes(".")) return text;
  const start = text.lastIndexOf(":") + 1;
  const word = parseIPv4(text.slice(start));
  if (word === null) return null;
  return `${text.slice(0, start)}${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`;
}

function hextets(text: string): number[] | null {
  if (text === "") return [];
  return HEXTETS.test(text) ? text.split(":").map((part) => parseInt(part, 16)) : null;
}

function toWords(groups: number[]): Words {
  const word = (i: number) => ((groups[i] ?? 0) << 16) | (groups[i + 1] ?? 0);
  return [word(0), word(2), word(4), word(6)];
}
