import { isIP, isIPv4, isIPv6 } from "node:net";
import { isReadable } from "../lib/colour.ts";
import { parseDuration } from "../lib/duration.ts";
import { type Cidr, parseCidr, unmappedBlock } from "../lib/ip-address.ts";
import { isUrl } from "../postgres/driver/url.ts";
import { CELL } from "../subjects/keys/rules.ts";
import {
  OPERATOR_ROLES,
  type OperatorRole,
  type OperatorToken,
} from "../subjects/operators/rules.ts";
import { SLUG, SLUG_RULE } from "../subjects/organizations/rules.ts";
import type { KeyRing, SealingKey } from "../subjects/secrets/rules.ts";

/** A format of a variable. `parse` returns null if the text does not match, and `mustBe` describes the format. */
export interface Format<T> {
  parse: (text: string) => T | null;
  /** Completes "must be …". */
  mustBe: string;
  /** True if an error may quote the value. It must be false if the value can hold a secret. */
  quotable?: boolean;
}

/** Reads variables and collects their faults, so that one error names all. A faulty variable reads as its fallback. */
export class Environment {
  /** Each is a sentence that starts with the variable's name. */
  readonly faults: string[] = [];
  /** The variables that were read. */
  readonly names: string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #faulty = new Set<string>();

  constructor(env: NodeJS.ProcessEnv, names: string[] = []) {
    this.#env = env;
    this.names = names;
  }

  /** Reads the same variables and keeps their faults to itself: for settings that have no effect. */
  withoutFaults(): Environment {
    return new Environment(this.#env, this.names);
  }

  /** Returns `fallback` if the variable is unset, empty or blank. */
  value<T, F>(name: string, format: Format<T>, fallback: F): T | F {
    const text = this.#read(name);
    return text === "" ? fallback : (this.#parse(name, text, format) ?? fallback);
  }

  /** Returns false if the variable is unset, empty or blank. */
  isSet(name: string): boolean {
    return this.#read(name) !== "";
  }

  /** Reads entries between separators. Returns null if there are none. Each faulty entry is a fault of its own. */
  list<T>(
    name: string,
    format: Format<T>,
    max: number,
    separator: string | RegExp = ",",
  ): T[] | null {
    const text = this.#read(name);
    if (text === "") return null;

    const entries = text.split(separator);
    if (entries.length > max) this.fault(name, `must have at most ${max} entries`);
    const values = entries
      .slice(0, max)
      .map((entry, i) => this.#parse(name, entry.trim(), format, `entry ${i + 1} `));
    return values.every((value) => value !== null) ? values : null;
  }

  /** Checks a rule over several variables, unless one of them is faulty. */
  rule(holds: boolean, [name, ...others]: [string, ...string[]], mustBe: string): void {
    if (!holds && ![name, ...others].some((n) => this.#faulty.has(n))) this.fault(name, mustBe);
  }

  /** Checks that no two entries of a list have the same `key`, which an error calls `what`. */
  differ<Entry>(name: string, what: string, entries: Entry[], key: keyof Entry): void {
    const values = new Set(entries.map((entry) => entry[key]));
    if (values.size < entries.length) this.fault(name, `must not use ${what} twice`);
  }

  fault(name: string, what: string): void {
    this.#faulty.add(name);
    this.faults.push(`${name} ${what}`);
  }

  /** Adds a sentence about a part of a variable's value. */
  faultWithin(name: string, sentence: string): void {
    this.#faulty.add(name);
    this.faults.push(`${name}: ${sentence}`);
  }

  #read(name: string): string {
    if (!this.names.includes(name)) this.names.push(name);
    const text = (this.#env[name] ?? "").trim();
    return isServiceLink(name, text) ? "" : text;
  }

  #parse<T>(name: string, text: string, format: Format<T>, where = ""): T | null {
    const { parse, mustBe, quotable = false } = format;
    const value = parse(text);
    if (value === null) {
      const quoted = quotable ? `, not ${JSON.stringify(text)}` : "";
      this.fault(name, `${where}must be ${mustBe}${quoted}`);
    }
    return value;
  }
}

/** Kubernetes gives each container `OPERATOR_PORT=tcp://10.0.0.1:80` if the namespace has a service `operator`. */
export function isServiceLink(name: string, text: string): boolean {
  return name.endsWith("_PORT") && /^(?:tcp|udp|sctp):\/\//.test(text);
}

export function integer(min: number, max: number): Format<number> {
  return {
    parse: (text) => (/^[0-9]{1,15}$/.test(text) ? within(min, max, Number(text)) : null),
    mustBe: `an integer from ${min} to ${max}`,
    quotable: true,
  };
}

const WORKERS_MAX = 256;

/** `auto`: as many as the machine has cores for. */
export const workers: Format<number | "auto"> = {
  parse: (text) => (text === "auto" ? text : integer(1, WORKERS_MAX).parse(text)),
  mustBe: `an integer from 1 to ${WORKERS_MAX}, or auto`,
  quotable: true,
};

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
const operatorUrl: Format<string> = {
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

/** An unknown variable, and the variable of ours that was probably meant. */
export interface Misspelt {
  name: string;
  meant: string;
}

/** Short names are similar to many others: `HOME` is two letters away from `HOST`. */
const SHORT = 8;

/** Finds variables whose names differ from ours only in case, or by a letter or two. */
export function findMisspelt(given: string[], ours: string[]): Misspelt[] {
  const known = new Set(ours);
  return given
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const meant = nearest(name, ours);
      return meant === undefined || given.includes(meant) ? [] : [{ name, meant }];
    });
}

function nearest(name: string, ours: string[]): string | undefined {
  const written = plain(name);
  const near = ours
    .map((meant) => ({ meant, letters: distance(written, plain(meant)) }))
    .filter(({ meant, letters }) => letters <= (meant.length < SHORT ? 1 : 2));
  return near.toSorted((a, b) => a.letters - b.letters)[0]?.meant;
}

/** `retry-delays` and `RetryDelays` are spellings of `RETRY_DELAYS`. */
function plain(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, "");
}

/** Returns how many letters to add, remove or replace (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}

const LIST_MAX = 32;

const ADMIN_TOKEN = new RegExp(
  `^(?:([A-Za-z0-9_.-]{1,64})(?:/(${OPERATOR_ROLES.join("|")}))?:)?([!-9;-~]{32,512})$`,
);

const adminToken: Format<{ name: string | undefined; role: OperatorRole; token: string }> = {
  parse: (text) => {
    const [, name, role = "operate", token] = ADMIN_TOKEN.exec(text) ?? [];
    return token === undefined ? null : { name, role: role as OperatorRole, token };
  },
  mustBe:
    `token, name:token or name/role:token, where role is one of ${OPERATOR_ROLES.join(", ")}, ` +
    "the token 32 to 512 visible ASCII characters without a colon",
};

/** Reads the operators' tokens. A single one needs no name. */
export function readAdminTokens(env: Environment): OperatorToken[] | null {
  const entries = env.list("ADMIN_TOKEN", adminToken, LIST_MAX);
  if (entries === null) return null;

  const tokens = entries.map(({ name = "operator", ...entry }) => ({ name, ...entry }));
  const isAnyUnnamed = entries.some(({ name }) => name === undefined);
  if (entries.length > 1 && isAnyUnnamed) {
    env.fault("ADMIN_TOKEN", "must name every token when there are several");
  } else {
    env.differ("ADMIN_TOKEN", "a name", tokens, "name");
  }
  env.differ("ADMIN_TOKEN", "a token", tokens, "token");
  return tokens;
}

const operatorToken: Format<string> = {
  parse: (text) => (/^[!-9;-~]{32,512}$/.test(text) ? text : null),
  mustBe: "only the token: 32 to 512 visible ASCII characters, without a name or a role",
};

/** Reads the URL of the service that commands use, and its token. */
export function readOperatorApi(env: Environment): { url: string; token: string } | null {
  const url = env.value("PARTNER_API_URL", operatorUrl, null);
  const token = env.value("PARTNER_API_TOKEN", operatorToken, null);
  env.rule(
    (url === null) === (token === null),
    ["PARTNER_API_URL", "PARTNER_API_TOKEN"],
    "and PARTNER_API_TOKEN must both be set, or neither",
  );
  return url === null || token === null ? null : { url, token };
}

/** Parses the file `admin-token`, which is written like the variable. Returns null if it is damaged or empty. */
export function parseAdminTokens(text: string): OperatorToken[] | null {
  const env = new Environment({ ADMIN_TOKEN: text });
  const tokens = readAdminTokens(env);
  return env.faults.length === 0 ? tokens : null;
}

const sealingKey: Format<SealingKey> = {
  parse: (text) => {
    const [, id, key] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=?)$/.exec(text) ?? [];
    return id === undefined || key === undefined ? null : { id, key: Buffer.from(key, "base64") };
  },
  mustBe: "id:key, the id of 1 to 32 letters, digits, _ and -, the key 32 bytes in base64",
};

export function readSealingKeys(env: Environment): KeyRing | null {
  const keys = env.list("SEALING_KEYS", sealingKey, LIST_MAX) ?? [];
  env.differ("SEALING_KEYS", "an id", keys, "id");
  const [newest, ...older] = keys;
  return newest === undefined ? null : [newest, ...older];
}

/** Parses the file `sealing-keys`: the keys are on lines of their own, or separated as in the variable. Null if it is damaged or empty. */
export function parseSealingKeys(text: string): KeyRing | null {
  const env = new Environment({ SEALING_KEYS: text.trim().replaceAll(/\s*\n\s*/g, ",") });
  const ring = readSealingKeys(env);
  return env.faults.length === 0 ? ring : null;
}
