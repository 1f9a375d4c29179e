import { domainToASCII, domainToUnicode } from "node:url";
import { BoundedCache } from "../lib/bounded-cache.ts";
import { parseAddress } from "../lib/ip-address.ts";
import { type AddressPolicy, isContactable } from "./address-policy.ts";
import type { LookUpFailure, NameLookup } from "./names.ts";

/** A receiver's URL, taken apart for connecting. */
export interface Destination {
  /** As it was given, fragment included. */
  url: string;
  /** The name for DNS and TLS: without brackets or a final dot, IDN as punycode. */
  host: string;
  port: number;
  /** Path and query for the request line, without the fragment. */
  path: string;
  hostHeader: string;
  /** The host in canonical form if it is an IP address, otherwise null. */
  address: string | null;
}

type UrlVerdict = { ok: true; destination: Destination } | { ok: false; detail: string };

/** `addresses` are all addresses of the host. Each may be connected to. Connect to no others. */
export type Vetted =
  | { ok: true; destination: Destination; addresses: readonly string[] }
  | { ok: false; refusal: Exclude<Refusal, "dns_error">; detail: string }
  | { ok: false; refusal: "dns_error"; cause?: LookUpFailure; detail: string };

/** `no_resolver` is a fault on our side. `too_many_lookups` passes soon. */
export type Refusal =
  "url" | "dns_error" | "address_not_public" | "no_resolver" | "too_many_lookups";

const DETAILS = {
  address_not_public: "The URL's host name resolves to an address that is not public.",
  no_resolver: "The URL's host name cannot be looked up at the moment.",
  too_many_lookups: "Too many host names are being looked up at once.",
} satisfies Partial<Record<Refusal, string>>;
const NO_ADDRESS = "The URL's host name does not resolve to an address.";

/** In characters, as the schema and the database count. */
export const URL_LENGTH_MAX = 2048;
const SHORT_ENOUGH = new RegExp(`^.{0,${URL_LENGTH_MAX}}$`, "su");
const NAME_LENGTH_MAX = 253;
const LABEL = /^[a-z0-9_-]{1,63}$/;
const PUNYCODE = /(?:^|\.)xn--/;
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

const VERDICTS_MAX = 10_000;
/** The verdicts on longer URLs are not cached, because each of their characters may be encoded as up to nine. */
const REMEMBERED_LENGTH_MAX = 256;

/** Decides which URLs may be posted to, by their text and by the addresses of their host. */
export class Vetting {
  readonly #policy: AddressPolicy;
  /** The verdict on the text of a URL never changes. */
  readonly #verdicts = new BoundedCache<string, UrlVerdict>(VERDICTS_MAX);

  constructor(policy: AddressPolicy) {
    this.#policy = policy;
  }

  /** It is called for each post, because the addresses of a name change. One address that is not allowed refuses the host. */
  async vet(url: string, lookup: NameLookup): Promise<Vetted> {
    const verdict = this.#verdictOn(url);
    if (!verdict.ok) return { ok: false, refusal: "url", detail: verdict.detail };

    const { destination } = verdict;
    if (destination.address !== null)
      return { ok: true, destination, addresses: [destination.address] };

    const found = await lookup(destination.host);
    if (found.kind === "no-resolver") return refused("no_resolver");
    if (found.kind === "too-many") return refused("too_many_lookups");
    if (found.kind === "none")
      return { ok: false, refusal: "dns_error", cause: found.cause ?? null, detail: NO_ADDRESS };

    const contactable = found.addresses.filter((address) => isContactable(address, this.#policy));
    // `localhost` always has both loopback addresses. One that is not allowed does not refuse the other.
    const all = destination.host === "localhost" ? contactable : found.addresses;
    if (all.length === 0 || contactable.length < all.length) return refused("address_not_public");
    return { ok: true, destination, addresses: contactable };
  }

  #verdictOn(url: string): UrlVerdict {
    const remembered = this.#verdicts.get(url);
    if (remembered !== undefined) return remembered;
    const verdict = checkUrl(url, this.#policy);
    if (url.length <= REMEMBERED_LENGTH_MAX) this.#verdicts.set(url, verdict);
    return verdict;
  }
}

export function refused(refusal: keyof typeof DETAILS): Vetted {
  return { ok: false, refusal, detail: DETAILS[refusal] };
}

/**
 * Applies every rule for a receiver's URL that needs no look-up. `detail` names the broken rule and
 * repeats no part of the URL.
 *
 * If the operator allows any block, only malformed names are refused here; the others are judged by
 * the addresses that they resolve to. A fragment is accepted and ignored, as in every HTTP client.
 */
export function checkUrl(url: string, policy: AddressPolicy): UrlVerdict {
  const detail = faultOfText(url);
  if (detail !== null) return { ok: false, detail };

  const parsed = parse(url);
  if (parsed === null) return { ok: false, detail: "The URL cannot be parsed." };

  const destination = toDestination(url, parsed);
  const fault =
    destination.address === null
      ? faultOfName(destination.host, policy)
      : faultOfAddress(destination.address, policy);
  return fault === null ? { ok: true, destination } : { ok: false, detail: fault };
}

/** Checks the text as it was sent, because a URL parser silently repairs or hides these faults. */
function faultOfText(url: string): string | null {
  if (!SHORT_ENOUGH.test(url)) return "The URL must not be longer than 2,048 characters.";
  if (/\s/u.test(url)) return "The URL must not contain white space.";
  if (/[\p{Cc}\p{Cf}\p{Cs}]/u.test(url)) {
    return "The URL must not contain control or invisible characters.";
  }
  if (url.includes("\\")) return "The URL must not contain a backslash.";

  const authority = /^https:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (authority === undefined) return "The URL must start with https://.";
  if (authority === "") return "The URL must name a host.";
  if (authority.includes("@")) return "The URL must not contain a user name or password.";

  const port = /:([0-9]+)$/.exec(authority)?.[1] ?? "443";
  const inRange = Number(port) >= 1 && Number(port) <= 65_535;
  return inRange ? null : "The URL's port must be from 1 to 65535.";
}

function parse(url: string): URL | null {
  try {
    const parsed = new URL(url);
    return isReadable(parsed.hostname) ? parsed : null;
  } catch {
    return null;
  }
}

/** Node.js 20 refuses invalid punycode and Node.js 24 accepts it. This check makes both refuse it. */
function isReadable(hostname: string): boolean {
  if (!PUNYCODE.test(hostname)) return true;
  const name = domainToUnicode(hostname);
  return !PUNYCODE.test(name) && domainToASCII(name) === hostname;
}

/** Returns the host of a URL in the form for look-ups. Empty if the URL cannot be parsed. */
export function hostOf(url: string): string {
  const parsed = parse(url);
  return parsed === null ? "" : toDestination(url, parsed).host;
}

function toDestination(url: string, { hostname, port, pathname, search }: URL): Destination {
  const name = hostname.replace(/\.$/, "");
  const host = name.startsWith("[") ? name.slice(1, -1) : name;
  return {
    url,
    host,
    port: port === "" ? 443 : Number(port),
    path: pathname + search,
    hostHeader: port === "" ? name : `${name}:${port}`,
    address: parseAddress(host) === null ? null : host,
  };
}

function faultOfAddress(address: string, policy: AddressPolicy): string | null {
  return isContactable(address, policy) ? null : "The URL's host is an address that is not public.";
}

function faultOfName(name: string, { allow }: AddressPolicy): string | null {
  if (name.length > NAME_LENGTH_MAX) {
    return "The URL's host name must not be longer than 253 characters.";
  }
  const labels = name.split(".");
  if (!labels.every((label) => LABEL.test(label))) {
    return "Each label of the URL's host name must be 1 to 63 letters, digits, hyphens or underscores.";
  }
  if (allow.length > 0) return null;
  if (LOCAL_NAME.test(name)) {
    return "The URL's host must not be a name under localhost, .local, .internal or .home.arpa.";
  }
  return labels.length > 1 ? null : "The URL's host must be a full domain name.";
}
