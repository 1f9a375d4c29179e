import { type Cidr, contains, parseCidr } from "./cidr.ts";
import { embeddedAddresses, isIsatap } from "./embedded-address.ts";
import { type Address, parseAddress, unmapped } from "./ip-address.ts";
import { SPECIAL_BLOCKS } from "./special-addresses.ts";

/** The operator's exceptions. `deny` takes precedence over `allow`, and `allow` over the special addresses. */
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
 * Returns true if a delivery may connect to this address, written as DNS or `socket.remoteAddress`
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
