import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export interface SealingKey {
  /** 1 to 255 bytes of UTF-8. Stands unencrypted in front of every secret that this key sealed. */
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

/** Newest first. The first key seals; all keys can open. */
export type KeyRing = readonly [SealingKey, ...SealingKey[]];

const ALGORITHM = "aes-256-gcm";
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a secret for one row.
 *
 *     version (1) | length of key id (1) | key id | nonce (12) | ciphertext | tag (16)
 *
 * The row's identity is the associated data, so bytes copied to another row do not open.
 */
export function seal(ring: KeyRing, row: string, secret: string): Buffer {
  const [newest] = ring;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, newest.key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(row));
  const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return Buffer.concat([headOf(newest), nonce, ciphertext, cipher.getAuthTag()]);
}

/** The first bytes of every secret that this key sealed. */
export function headOf({ id }: SealingKey): Buffer {
  const keyId = Buffer.from(id);
  const start = Buffer.alloc(2);
  start.writeUInt8(VERSION, 0);
  start.writeUInt8(keyId.length, 1);
  return Buffer.concat([start, keyId]);
}

/** Returns the secret. Null if the key is not on the ring, the bytes belong to another row, or they were altered. */
export function open(ring: KeyRing, row: string, sealed: Buffer): string | null {
  const keyId = keyIdOf(sealed);
  const key = ring.find(({ id }) => id === keyId)?.key;
  if (keyId === null || key === undefined) return null;

  const start = 2 + Buffer.byteLength(keyId);
  const nonce = sealed.subarray(start, start + NONCE_BYTES);
  const ciphertext = sealed.subarray(start + NONCE_BYTES, -TAG_BYTES);

  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(row));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return decipher.update(ciphertext, undefined, "utf8") + decipher.final("utf8");
  } catch {
    return null;
  }
}

/** Explains to an operator why `open` returned null. */
export function whySealed(ring: KeyRing, sealed: Buffer): string {
  const keyId = keyIdOf(sealed);
  if (keyId === null) return "is not a sealed secret";
  const isKnown = ring.some(({ id }) => id === keyId);
  return isKnown
    ? `does not open with the sealing key "${keyId}": the key differs, or the row was altered`
    : `is sealed under the key "${keyId}", which is not on the ring: add it to SEALING_KEYS`;
}

/**
 * The id of the key that sealed it, or null if these bytes are not a sealed secret. `reseal` finds
 * secrets of old keys by it.
 */
export function keyIdOf(sealed: Buffer): string | null {
  const [version, length] = sealed;
  if (version !== VERSION || length === undefined) return null;
  if (sealed.length < 2 + length + NONCE_BYTES + TAG_BYTES) return null;
  return sealed.toString("utf8", 2, 2 + length);
}
