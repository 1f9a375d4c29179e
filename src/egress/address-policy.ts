import {
  type Address,
  type Cidr,
  contains,
  parseAddress,
  parseCidr,
  unmapped,
} from "../lib/ip-address.ts";

/** Exceptions from the rule that only public addresses are contacted. `deny` takes precedence over `allow`. */
export interface AddressPolicy {
  allow: readonly Cidr[];
  deny: readonly Cidr[];
}

/**
 * The blocks that are not public: IANA's special-purpose registries and some that they omit.
 * `test/fixtures/special-addresses.csv` holds the same list with the RFC of each block.
 */
export const SPECIAL_BLOCKS: readonly (readonly [block: string, name: string])[] = [
  ["0.0.0.0/8", "this network"],
  ["10.0.0.0/8", "private use"],
  ["100.64.0.0/10", "shared address space"],
  ["127.0.0.0/8", "loopback"],
  ["168.63.129.16/32", "Azure host agent (not in the registry)"],
  ["169.254.0.0/16", "link local"],
  ["172.16.0.0/12", "private use"],
  ["192.0.0.0/24", "IETF protocol assignments (all sub-blocks)"],
  ["192.0.2.0/24", "documentation"],
  ["192.31.196.0/24", "AS112-v4"],
  ["192.52.193.0/24", "AMT"],
  ["192.88.99.0/24", "6to4 relay anycast (deprecated)"],
  ["192.168.0.0/16", "private use"],
  ["192.175.48.0/24", "direct delegation AS112"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast (its own registry)"],
  ["240.0.0.0/4", "reserved"],
  ["255.255.255.255/32", "limited broadcast"],
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["::/96", "IPv4-compatible (deprecated)"],
  ["::ffff:0:0/96", "IPv4-mapped"],
  ["::ffff:0:0:0/96", "IPv4-translated (SIIT)"],
  ["64:ff9b::/96", "IPv4-IPv6 translation"],
  ["64:ff9b:1::/48", "local-use IPv4-IPv6 translation"],
  ["100::/64", "discard only"],
  ["100:0:0:1::/64", "dummy prefix"],
  [
    "2001::/23",
    "IETF protocol assignments (all sub-blocks: Teredo 2001::/32, anycasts, benchmarking 2001:2::/48, AMT 2001:3::/32, AS112 2001:4:112::/48, ORCHID 2001:10::/28 and 2001:20::/28, DRIP 2001:30::/28)",
  ],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "6to4"],
  ["2620:4f:8000::/48", "direct delegation AS112"],
  ["3ffe::/16", "6bone (returned)"],
  ["3fff::/20", "documentation"],
  ["5f00::/16", "segment routing SIDs"],
  ["fc00::/7", "unique local"],
  ["fe80::/10", "link local"],
  ["fec0::/10", "site local (deprecated)"],
  ["ff00::/8", "multicast"],
];

/** The third of the four words of `::ffff:a.b.c.d` and of `::ffff:0:a.b.c.d`. */
const MAPPED = 0xffff;
const TRANSLATED = 0xffff0000 | 0;

const SPECIAL = SPECIAL_BLOCKS.map(([block]) => {
  const cidr = parseCidr(block);
  if (cidr === null) throw new Error(`${block} is not a block of addresses`);
  return cidr;
});

/**
 * Returns true if a post may connect to this address, written as DNS or `socket.remoteAddress`
 * writes it. Returns false for text that is not an address and for addresses with a zone id.
 *
 * A denied IPv4 block covers every IPv6 address that embeds one of its addresses, since any of them
 * may reach it. An allowed block covers only `::ffff:a.b.c.d` besides, which is the same machine.
 */
export function isContactable(address: string, { allow, deny }: AddressPolicy): boolean {
  const parsed = parseAddress(address);
  if (parsed === null) return false;

  const reached = [parsed, ...embeddedAddresses(parsed)];
  if (isWithin(deny, reached)) return false;

  const plain = unmapped(parsed);
  return isWithin(allow, plain === null ? [parsed] : [parsed, plain]) || isPublic(parsed);
}

function isWithin(blocks: readonly Cidr[], addresses: Address[]): boolean {
  return blocks.some((block) => addresses.some((address) => contains(block, address)));
}

function isPublic(address: Address): boolean {
  if (address.family === 6 && (!isGlobalUnicast(address) || isIsatap(address))) return false;
  return !SPECIAL.some((block) => contains(block, address));
}

/** 2000::/3 holds everything allocated so far. New kinds of special addresses appear outside it. */
function isGlobalUnicast({ words }: Address): boolean {
  return words[0] >>> 29 === 1;
}

/**
 * Every IPv4 address that an IPv6 address may lead to: mapped, compatible, translated (SIIT, NAT64
 * under both prefixes), 6to4, Teredo (server and client) and ISATAP. Returns several if the form is
 * ambiguous, and none for IPv4.
 */
function embeddedAddresses(address: Address): Address[] {
  if (address.family === 4) return [];
  const [a, b, c, d] = address.words;
  const found: number[] = [];

  if (a === 0 && b === 0) {
    if (c === MAPPED || c === TRANSLATED) found.push(d);
    if (c === 0 && d !== 0 && d !== 1) found.push(d); // :: and ::1 are not IPv4-compatible addresses.
  }
  if (a === 0x64ff9b) found.push(d);
  if (a === 0x64ff9b && b >>> 16 === 1) found.push(...aroundTheOctet(b, c, d));
  if (a >>> 16 === 0x2002) found.push((a << 16) | (b >>> 16));
  if (a === 0x20010000) found.push(b, ~d);
  if (isIsatap(address)) found.push(d);
  return found.map((word) => ({ family: 4, words: [word, 0, 0, 0] }));
}

/** ISATAP tunnels to the IPv4 address after 0:5efe or 200:5efe, under any prefix (RFC 5214). */
function isIsatap({ family, words }: Address): boolean {
  return family === 6 && (words[2] & ~0x02000000) === 0x5efe;
}

/** With a NAT64 prefix of 48, 56 or 64 bits, the address skips bits 64 to 71 (RFC 6052). */
function aroundTheOctet(b: number, c: number, d: number): number[] {
  return [(b << 16) | ((c >>> 8) & 0xffff), (b << 24) | (c & 0xffffff), (c << 8) | (d >>> 24)];
}
