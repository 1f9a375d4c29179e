import { type Cidr, contains, parseCidr } from "./cidr.ts";
import { type Address, parseAddress, unmapped } from "./ip-address.ts";
import { SPECIAL_BLOCKS } from "./special-addresses.ts";

/** The operator's exceptions. `deny` wins over everything, `allow` over the special addresses. */
export interface AddressPolicy {
  allow: readonly Cidr[];
  deny: readonly Cidr[];
}

const SPECIAL = SPECIAL_BLOCKS.map(([block]) => {
  const cidr = parseCidr(block);
  if (cidr === null) throw new Error(`${block} is not a block of addresses`);
  return cidr;
});

/**
 * Whether a delivery may connect to this address, written as DNS or `socket.remoteAddress` has it.
 * Text that is no address, or one with a zone id, never is.
 *
 * The operator's IPv4 blocks also cover `::ffff:a.b.c.d`, which reaches the same machine; no other
 * embedding counts as the address that it embeds.
 */
export function isContactable(address: string, { allow, deny }: AddressPolicy): boolean {
  const parsed = parseAddress(address);
  if (parsed === null) return false;

  const plain = unmapped(parsed);
  const covers = (cidr: Cidr) =>
    contains(cidr, parsed) || (plain !== null && contains(cidr, plain));

  if (deny.some(covers)) return false;
  return allow.some(covers) || isOrdinary(parsed);
}

/** Whether the address is public by itself, whatever the operator allows or denies. */
export function isPublic(address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== null && isOrdinary(parsed);
}

function isOrdinary(address: Address): boolean {
  if (address.family === 6 && (!isGlobalUnicast(address) || isIsatap(address))) return false;
  return !SPECIAL.some((block) => contains(block, address));
}

/** 2000::/3: all that has been handed out. New kinds of special addresses appear outside it. */
function isGlobalUnicast({ words }: Address): boolean {
  return words[0] >>> 29 === 1;
}

/** ISATAP tunnels to the IPv4 address after 0:5efe or 200:5efe, under any prefix (RFC 5214). */
function isIsatap({ words }: Address): boolean {
  return (words[2] & ~0x02000000) === 0x5efe;
}
