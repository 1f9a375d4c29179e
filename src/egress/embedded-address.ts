import type { Address } from "./ip-address.ts";

/** The third of the four words of `::ffff:a.b.c.d` and of `::ffff:0:a.b.c.d`. */
const MAPPED = 0xffff;
const TRANSLATED = 0xffff0000 | 0;

/**
 * Every IPv4 address that an IPv6 address may lead to: mapped, compatible, translated (SIIT, NAT64
 * under both prefixes), 6to4, Teredo (server and client) and ISATAP. Returns several if the form is
 * ambiguous, and none for IPv4.
 */
export function embeddedAddresses(address: Address): Address[] {
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
export function isIsatap({ family, words }: Address): boolean {
  return family === 6 && (words[2] & ~0x02000000) === 0x5efe;
}

/** With a NAT64 prefix of 48, 56 or 64 bits, the address skips bits 64 to 71 (RFC 6052). */
function aroundTheOctet(b: number, c: number, d: number): number[] {
  return [(b << 16) | ((c >>> 8) & 0xffff), (b << 24) | (c & 0xffffff), (c << 8) | (d >>> 24)];
}
