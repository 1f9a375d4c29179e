import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

/** The two halves of `vck_<key_id>.<secret>`. The first may be logged, the second never. */
export interface Token {
  keyId: string;
  secret: string;
}

const KEY_ID_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
const KEY_ID_LENGTH = 20;
/** How a key id is written, as a piece of a pattern. */
export const KEY_ID = `[0-9a-z]{${KEY_ID_LENGTH}}`;
const SECRET_BYTES = 32;

// Neither half has a dot, so that there is only one dot to split at.
const AUTHORIZATION = new RegExp(
  `^(?:[Bb][Ee][Aa][Rr][Ee][Rr] +)?vck_(?<keyId>${KEY_ID})\\.(?<secret>[A-Za-z0-9_-]{43})$`,
);
const KEY_NAME = new RegExp(`^(?:vck_)?(?<keyId>${KEY_ID})$`);

/** Nobody can find a secret that hashes to this: what is presented for a key that does not exist is held to it. */
export const NO_HASH = "0".repeat(64);

export function mintToken(): Token {
  const letter = () => KEY_ID_ALPHABET.charAt(randomInt(KEY_ID_ALPHABET.length));
  return {
    keyId: Array.from({ length: KEY_ID_LENGTH }, letter).join(""),
    secret: randomBytes(SECRET_BYTES).toString("base64url"),
  };
}

/** The whole token, as a partner is shown it once. */
export function formatToken({ keyId, secret }: Token): string {
  return `vck_${keyId}.${secret}`;
}

/** The token of an `Authorization` header, with or without `Bearer`. Null for anything else. */
export function parseAuthorization(header: string | undefined): Token | null {
  const { keyId, secret } = AUTHORIZATION.exec(header ?? "")?.groups ?? {};
  return keyId === undefined || secret === undefined ? null : { keyId, secret };
}

/** The key id that an operator names, with or without `vck_`. Null for anything else, a whole token too. */
export function parseKeyId(name: string): string | null {
  return KEY_NAME.exec(name)?.groups?.["keyId"] ?? null;
}

/** What is stored, in hex. A fast hash is enough: nobody guesses 256 random bits. */
export function hashSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** Constant in time. */
export function hashesMatch(presented: string, stored: string): boolean {
  return timingSafeEqual(Buffer.from(presented), Buffer.from(stored));
}
