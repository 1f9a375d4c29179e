import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { type Fault, PartnerError } from "../../lib/errors.ts";
import type { KeyId, OrganizationId } from "../../lib/ids.ts";

/** The two halves of `vck_<key_id>.<secret>`. The key id may be logged, the secret never. */
interface Token {
  keyId: KeyId;
  secret: string;
}

const KEY_ID_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
const KEY_ID_LENGTH = 20;
/** A pattern for key ids, without anchors. */
export const KEY_ID = `[0-9a-z]{${KEY_ID_LENGTH}}`;
/** The name of a cell. A key id begins with that of its organization's cell. */
export const CELL = /^[0-9a-z]{2}$/;
/** The name of the cell, if there are no others. */
export const ONLY_CELL = "00";
const SECRET_BYTES = 32;

// Neither half contains a dot, so the token splits at its only dot.
const AUTHORIZATION = new RegExp(
  `^(?:[Bb][Ee][Aa][Rr][Ee][Rr] +)?vck_(?<keyId>${KEY_ID})\\.(?<secret>[A-Za-z0-9_-]{43})$`,
);
const KEY_NAME = new RegExp(`^(?:vck_)?(?<keyId>${KEY_ID})$`);

/** Stands in for the hash of an unknown key, so that both cases do the same work. No secret hashes to it. */
export const NO_HASH = "0".repeat(64);

export function mintToken(cell = ONLY_CELL): Token {
  const letter = () => KEY_ID_ALPHABET.charAt(randomInt(KEY_ID_ALPHABET.length));
  return {
    keyId: cell + Array.from({ length: KEY_ID_LENGTH - cell.length }, letter).join(""),
    secret: randomBytes(SECRET_BYTES).toString("base64url"),
  };
}

/** The whole token. A partner sees it once. */
export function formatToken({ keyId, secret }: Token): string {
  return `vck_${keyId}.${secret}`;
}

/** The token of an `Authorization` header, with or without `Bearer`. Null if malformed. */
export function parseAuthorization(header: string | undefined): Token | null {
  const { keyId, secret } = AUTHORIZATION.exec(header ?? "")?.groups ?? {};
  return keyId === undefined || secret === undefined ? null : { keyId, secret };
}

/** The key id that an operator typed, with or without `vck_`. Null for anything else, even a whole token. */
export function parseKeyId(name: string): KeyId | null {
  return KEY_NAME.exec(name)?.groups?.["keyId"] ?? null;
}

/** The hash that is stored, in hex. A fast hash is enough: the secret has 256 random bits. */
export function hashSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** Compares in constant time. */
export function hashesMatch(presented: string, stored: string): boolean {
  return timingSafeEqual(Buffer.from(presented), Buffer.from(stored));
}

/** In code points. */
export const LABEL_MAX = 200;

/**
 * Control characters could harm terminals that show a label. Bidirectional ones reorder the rest of a line. PostgreSQL cannot
 * store half a surrogate pair.
 */
export const LABEL =
  // eslint-disable-next-line no-control-regex -- It refuses control characters.
  /^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+$/u;

/**
 * The same for the OpenAPI document. Many tools read it without the flag `u`, where a character beyond U+FFFF is two halves, and
 * others cannot read the halves.
 */
export const DOCUMENTED_LABEL = LABEL.source.replace("\\ud800-\\udfff", "");

/** `LABEL` in words. */
export const LABEL_RULE = `1 to ${LABEL_MAX} characters, none of them a control or bidirectional character`;

export function labelFaults(label: string, pointer = "/label"): Fault[] {
  const isValid = LABEL.test(label) && Array.from(label).length <= LABEL_MAX;
  return isValid ? [] : [{ pointer, detail: `must be ${LABEL_RULE}` }];
}

/** A window opens with an organization's first request. */
export const WINDOW_MS = 60_000;

/** The state of an organization's window after one request. */
export interface Allowance {
  passed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number;
}

/** The allowance of the `ordinal`-th request of a window, from 1. */
export function allowanceAt(ordinal: number, limit: number, opened: Date, now: Date): Allowance {
  const leftMs = opened.getTime() + WINDOW_MS - now.getTime();
  return {
    passed: ordinal <= limit,
    limit,
    remaining: Math.max(0, limit - ordinal),
    resetSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
  };
}

export const SCOPES = ["identity:read", "webhooks:manage"] as const;
export type Scope = (typeof SCOPES)[number];

/** Names reserved for later resource families. Keys cannot have them yet. */
export const RESERVED_SCOPES = [
  "leads:read",
  "leads:write",
  "intakes:read",
  "intakes:write",
  "records:read",
  "records:write",
  "skills:read",
  "skills:author",
  "skills:execute",
  "agents:invoke",
  "tenants:provision",
] as const;

/** The sender of the current request. */
export interface Caller {
  organizationId: OrganizationId;
  slug: string;
  keyId: KeyId;
  scopes: readonly Scope[];
  rateLimitPerMinute: number;
}

/** The scopes of a new key: the requested ones and always `identity:read`. */
export function grantScopes(requested: readonly string[]): Scope[] {
  const found = requested.flatMap((name, index) => faultOf(name, `/scopes/${index}`));
  const [worst] = found.toSorted((a, b) => RANK[a.code] - RANK[b.code]);
  const faults = found.map(({ pointer, detail }) => ({ pointer, detail }));
  if (worst) throw new PartnerError(worst.code, SENTENCES[worst.code], { faults });

  const granted = new Set<Scope>(["identity:read", ...(requested as Scope[])]);
  return SCOPES.filter((scope) => granted.has(scope));
}

const RANK = { unknown_scope: 0, reserved_scope: 1 };

const SENTENCES = {
  unknown_scope: "Unknown scope.",
  reserved_scope: "Reserved scope.",
} satisfies Record<keyof typeof RANK, string>;

function faultOf(name: string, pointer: string): (Fault & { code: keyof typeof RANK })[] {
  if (SCOPES.some((scope) => scope === name)) return [];
  if (RESERVED_SCOPES.some((scope) => scope === name)) {
    return [{ code: "reserved_scope", pointer, detail: "is reserved and cannot be granted yet" }];
  }
  return [{ code: "unknown_scope", pointer, detail: `must be one of ${SCOPES.join(", ")}` }];
}
