import { isIP, isIPv4, isIPv6 } from "node:net";
import { CELL } from "../domain/api-key.ts";
import { type Cidr, parseCidr, unmappedBlock } from "../lib/ip-address.ts";
import { parseDuration } from "../domain/duration.ts";
import { SLUG, SLUG_RULE } from "../domain/organization.ts";
import { isUrl } from "../postgres/driver/url.ts";
import { isReadable } from "../lib/colour.ts";
import type { Format } from "./environment.ts";

export function integer(min: number, max: number): Format<number> {
  return {
    parse: (text) => (/^[0-9]{1,15}$/.test(text) ? within(min, max, Number(text)) : null),
    mustBe: `an integer from ${min} to ${max}`,
    quotable: true,
  };
}

export function duration(min: string, max: string): Format<number> {
  const [minMs, maxMs] = [parseDuration(min) ?? 0, parseDuration(max) ?? Infinity];
  return {
    parse: (text) => within(minMs, maxMs, parseDuration(text)),
    mustBe: `a duration (a whole number and ms, s, m, h or d) from ${min} to ${max}`,
    quotable: true,
  };
}

function within(min: number, max: number, value: number | null): number | null {
  return value !== null && value >= min && value <= max ? value : null;
}

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export function oneOf<T extends string>(choices: readonly T[]): Format<T> {
  return {
    parse: (text) => choices.find((choice) => choice === text) ?? null,
    mustBe: `one of ${choices.join(", ")}`,
    quotable: true,
  };
}

export const path: Format<string> = {
  parse: (text) => text,
  mustBe: "a path",
};

const COMMAND_MAX = 1_000;

/** A program and its arguments. No shell reads it, so quotes have no meaning. An argument may be a secret. */
export const command: Format<string[]> = {
  parse: (text) => (text.length <= COMMAND_MAX && !/["'`]/.test(text) ? text.split(/\s+/) : null),
  mustBe: `a program and its arguments, with spaces between them, without quotes, of at most ${COMMAND_MAX} characters`,
};

/** A name that partners read. */
export const title: Format<string> = {
  parse: (text) => (text.length <= 60 && !/\p{C}/u.test(text) ? text : null),
  mustBe: "a name of at most 60 characters",
  quotable: true,
};

/** The colour of buttons and links. */
export const accent: Format<string> = {
  parse: (text) => (/^#[0-9a-f]{6}$/i.test(text) && isReadable(text) ? text.toLowerCase() : null),
  mustBe: "a colour #rrggbb that is dark enough for white text on it",
  quotable: true,
};

/** An address or a name to listen on. */
export const host: Format<string> = {
  parse: (text) => (isIP(text) !== 0 || /^[A-Za-z0-9.-]{1,253}$/.test(text) ? text : null),
  mustBe: "a host name or an IP address, without brackets or port",
  quotable: true,
};

/** A name of a listener. It is read in lower case and without the final dot. */
export const allowedHost: Format<string> = {
  parse: (text) => {
    const name = text.toLowerCase().replace(/\.$/, "");
    return name === "*" || /^[a-z0-9._-]{1,253}$/.test(name) ? name : null;
  },
  mustBe: "a host name without a port, or *",
  quotable: true,
};

/** Returns true if the host means every address of the machine. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** Kept as written, because paths are appended to it. */
export const baseUrl: Format<string> = {
  parse: (text) =>
    /^https?:\/\/[^\s\\?#@]*[^\s\\?#@/]$/.test(text) && URL.canParse(text) ? text : null,
  mustBe: "an http or https URL without user, final slash, query and fragment",
};

/** The operators' listener. A token must not cross a network in clear text, so plain HTTP is for loopback only. */
export const operatorUrl: Format<string> = {
  parse: (text) => {
    const url = baseUrl.parse(text.replace(/\/$/, ""));
    if (url === null) return null;
    return url.startsWith("https:") || isLoopback(new URL(url).hostname) ? url : null;
  },
  mustBe: "the https URL of an operators' listener, or an http URL on loopback",
};

/** Returns true if the host is this machine, so that no other can read the traffic. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
}

export const postgresUrl: Format<string> = {
  parse: (text) => (isUrl(text) ? text : null),
  mustBe: "a postgres:// or postgresql:// URL, with / and ? in a password as %2F and %3F",
};

export const cidr: Format<Cidr> = {
  parse: (text) => {
    const block = parseCidr(text);
    return block && unmappedBlock(block);
  },
  mustBe: "a block of addresses such as 10.0.0.0/8 or fd00::/8",
  quotable: true,
};

/** An address or a block that partners let through their firewall, shown as written. */
export const shownAddress: Format<string> = {
  parse: (text) => (isIP(text) !== 0 || parseCidr(text) !== null ? text : null),
  mustBe: "an IP address or a block such as 203.0.113.0/29",
  quotable: true,
};

const CONTACT_MAX = 200;

export const contact: Format<string> = {
  parse: (text) => {
    const isMail = /^[^\s@<>"]+@[^\s@<>"]+$/.test(text);
    const isUrl = /^https?:\/\/[^\s<>"]+$/.test(text) && URL.canParse(text);
    return text.length <= CONTACT_MAX && (isMail || isUrl) ? text : null;
  },
  mustBe: `an e-mail address or an http or https URL of at most ${CONTACT_MAX} characters`,
  quotable: true,
};

/** `ip:port`, or `[ip]:port` for IPv6, as `Resolver.setServers` takes it. */
export const nameServer: Format<string> = {
  parse: (text) => {
    const [, v6 = "", v4 = "", port = "53"] =
      /^(?:\[([^\]]*)\]|([^:]*))(?::([0-9]{1,5}))?$/.exec(text) ?? [];
    if (within(1, 65_535, Number(port)) === null) return null;
    if (isIPv4(v4)) return `${v4}:${port}`;
    return isIPv6(v6) ? `[${v6}]:${port}` : null;
  },
  mustBe: "an IP address and a port such as 9.9.9.9:53 or [2620:fe::fe]:53",
  quotable: true,
};

export const cellName: Format<string> = {
  parse: (text) => (CELL.test(text) ? text : null),
  mustBe: "two characters of 0-9 and a-z",
  quotable: true,
};

export const slug: Format<string> = {
  parse: (text) => (SLUG.test(text) ? text : null),
  mustBe: `a slug (${SLUG_RULE})`,
  quotable: true,
};

/** A keyword of JSON Schema. */
export const keyword: Format<string> = {
  parse: (text) => (/^[$\w.-]{1,100}$/.test(text) ? text : null),
  mustBe: "names of keywords, with commas between them",
};
