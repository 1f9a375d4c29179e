import { checkUrl, type Destination, type UrlVerdict } from "./destination-url.ts";
import { type AddressPolicy, isContactable } from "./public-address.ts";
import type { NameLookup } from "./name-lookup.ts";
import { BoundedCache } from "../lib/bounded-cache.ts";

/** `addresses` are all addresses of the host. Each may be connected to. Connect to no others. */
export type Vetted =
  | { ok: true; destination: Destination; addresses: string[] }
  | { ok: false; refusal: Refusal; detail: string };

/** `no_resolver` is an internal fault and counts against no subscription. `too_many_lookups` passes soon. */
export type Refusal =
  "url" | "dns_error" | "address_not_public" | "no_resolver" | "too_many_lookups";

const DETAILS = {
  dns_error: "The URL's host name does not resolve to an address.",
  address_not_public: "The URL's host name resolves to an address that is not public.",
  no_resolver: "The URL's host name cannot be looked up at the moment.",
  too_many_lookups: "Too many host names are being looked up at once.",
} satisfies Partial<Record<Refusal, string>>;

const VERDICTS_MAX = 10_000;
/** The verdicts on longer URLs are not cached, because each of their characters may be encoded as up to nine. */
const REMEMBERED_LENGTH_MAX = 256;
const verdicts = new WeakMap<AddressPolicy, BoundedCache<string, UrlVerdict>>();

/**
 * Returns whether deliveries may go to this URL, and the addresses. It is called for each attempt, because the addresses of a
 * name change. One address that is not allowed refuses the host.
 */
export async function checkDestination(
  { lookup, egress }: { lookup: NameLookup; egress: AddressPolicy },
  url: string,
): Promise<Vetted> {
  const verdict = checkUrlOnce(url, egress);
  if (!verdict.ok) return { ok: false, refusal: "url", detail: verdict.detail };

  const { destination } = verdict;
  if (destination.address !== null) {
    return { ok: true, destination, addresses: [destination.address] };
  }

  const found = await lookup(destination.host);
  if (found.kind === "no-resolver") return refused("no_resolver");
  if (found.kind === "too-many") return refused("too_many_lookups");
  if (found.kind === "none") return refused("dns_error");

  const contactable = found.addresses.filter((address) => isContactable(address, egress));
  // `localhost` always has both loopback addresses. One that is not allowed does not refuse the other.
  const all = destination.host === "localhost" ? contactable : found.addresses;
  if (all.length === 0 || contactable.length < all.length) return refused("address_not_public");
  return { ok: true, destination, addresses: contactable };
}

export function refused(refusal: keyof typeof DETAILS): Vetted {
  return { ok: false, refusal, detail: DETAILS[refusal] };
}

/** Returns the verdict on the text of a URL. It never changes, so it is cached. */
function checkUrlOnce(url: string, egress: AddressPolicy): UrlVerdict {
  let known = verdicts.get(egress);
  if (known === undefined) verdicts.set(egress, (known = new BoundedCache(VERDICTS_MAX)));

  const remembered = known.get(url);
  if (remembered !== undefined) return remembered;

  const verdict = checkUrl(url, egress);
  if (url.length <= REMEMBERED_LENGTH_MAX) known.set(url, verdict);
  return verdict;
}
