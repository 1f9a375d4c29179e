import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import type { KeyId } from "./ids.ts";

/** The two halves of `vck_<key_id>.<secret>`. The key id may be logged, the secret never. */
export interface Token {
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
