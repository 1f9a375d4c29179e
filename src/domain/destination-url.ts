import { domainToASCII, domainToUnicode } from "node:url";
import { parseAddress } from "./ip-address.ts";
import { type AddressPolicy, isContactable } from "./public-address.ts";

/** A subscription's URL as somewhere to connect to. */
export interface Destination {
  /** As the partner sent it, fragment included. */
  url: string;
  /** What to look up and to name in the TLS handshake: no brackets, no final dot, IDN as punycode. */
  host: string;
  port: number;
  /** Path and query, as they go on the request line. A fragment is never sent. */
  path: string;
  hostHeader: string;
  /** The host in canonical form when it is an address and there is nothing to look up, else null. */
  address: string | null;
}

export type UrlVerdict = { ok: true; destination: Destination } | { ok: false; detail: string };

/** In characters, as the schema and the database count them. */
export const URL_LENGTH_MAX = 2048;
const SHORT_ENOUGH = new RegExp(`^.{0,${URL_LENGTH_MAX}}$`, "su");
const NAME_LENGTH_MAX = 253;
const LABEL = /^[a-z0-9_-]{1,63}$/;
const PUNYCODE = /(?:^|\.)xn--/;
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * Applies every rule for a receiver's URL that needs no look-up. `detail` names the rule that was
 * broken and repeats nothing of the URL.
 *
 * While the operator allows any block, names are judged by what they resolve to and only malformed
 * ones are refused here. A fragment is accepted and ignored, as every HTTP client does.
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

/** What a URL parser would silently repair or hide has to be found in the text as it was sent. */
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
  return inRange ? null : "The URL's port must lie between 1 and 65535.";
}

function parse(url: string): URL | null {
  try {
    const parsed = new URL(url);
    return isReadable(parsed.hostname) ? parsed : null;
  } catch {
    return null;
  }
}

/** Node.js 20 refuses punycode that stands for nothing, 24 leaves it as it is. A URL gets one verdict from both. */
function isReadable(hostname: string): boolean {
  if (!PUNYCODE.test(hostname)) return true;
  const name = domainToUnicode(hostname);
  return !PUNYCODE.test(name) && domainToASCII(name) === hostname;
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
