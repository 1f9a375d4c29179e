import { domainToASCII, domainToUnicode } from "node:url";
import { parseAddress } from "./ip-address.ts";
import { type AddressPolicy, isContactable } from "./public-address.ts";

/** A subscription's URL, taken apart for connecting. */
export interface Destination {
  /** As the partner sent it, fragment included. */
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

export type UrlVerdict = { ok: true; destination: Destination } | { ok: false; detail: string };

/** In characters, as the schema and the database count. */
export const URL_LENGTH_MAX = 2048;
const SHORT_ENOUGH = new RegExp(`^.{0,${URL_LENGTH_MAX}}$`, "su");
const NAME_LENGTH_MAX = 253;
const LABEL = /^[a-z0-9_-]{1,63}$/;
const PUNYCODE = /(?:^|\.)xn--/;
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

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

/** The host of a subscription's URL in the form for look-ups. Empty if the URL cannot be parsed. */
export function hostOf(url: string): string {
  const parsed = parse(url);
  return parsed === null ? "" : toDestination(url, parsed).host;
}

/** What the filter for hosts accepts: a text without white space and control characters. The OpenAPI document has this pattern. */
export const HOST_TEXT =
  // eslint-disable-next-line no-control-regex -- It refuses control characters.
  /^[^\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+$/;

/**
 * The same for what an operator may paste: a URL with any scheme, a host with or without a port, or an address. Returns any
 * other text in lower case.
 */
export function hostIn(text: string): string {
  const rest = text.trim().replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, "");
  return hostOf(`https://${rest}`) || hostOf(`https://[${rest}]`) || rest.toLowerCase();
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

/** Returns true if the host is this machine, without asking a name server. */
export function isThisMachine({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
