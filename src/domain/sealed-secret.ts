import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export interface SealingKey {
  /** 1 to 255 bytes of UTF-8. Stands in clear in front of everything that the key sealed. */
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

/** Newest first: the first seals, all open. */
export type KeyRing = readonly [SealingKey, ...SealingKey[]];

const ALGORITHM = "aes-256-gcm";
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a signing secret so that only this subscription's row, with the ring, gives it back.
 *
 *     version (1) | length of key id (1) | key id | nonce (12) | ciphertext | tag (16)
 *
 * The subscription's id is the associated data: copied to another row, the bytes do not open.
 */
export function seal(ring: KeyRing, subscriptionId: string, secret: string): Buffer {
  const [newest] = ring;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, newest.key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(subscriptionId));
  const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return Buffer.concat([headOf(newest), nonce, ciphertext, cipher.getAuthTag()]);
}

/** What everything that the key sealed begins with. */
export function headOf({ id }: SealingKey): Buffer {
  const keyId = Buffer.from(id);
  const start = Buffer.alloc(2);
  start.writeUInt8(VERSION, 0);
  start.writeUInt8(keyId.length, 1);
  return Buffer.concat([start, keyId]);
}

/** The secret, or null when it does not open: a key that the ring lacks, another row, altered bytes. */
export function open(ring: KeyRing, subscriptionId: string, sealed: Buffer): string | null {
  const keyId = keyIdOf(sealed);
  const key = ring.find(({ id }) => id === keyId)?.key;
  if (keyId === null || key === undefined) return null;

  const start = 2 + Buffer.byteLength(keyId);
  const nonce = sealed.subarray(start, start + NONCE_BYTES);
  const ciphertext = sealed.subarray(start + NONCE_BYTES, -TAG_BYTES);

  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(subscriptionId));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return decipher.update(ciphertext, undefined, "utf8") + decipher.final("utf8");
  } catch {
    return null;
  }
}

/** Why `open` gave null, for whoever has to mend it. */
export function whySealed(ring: KeyRing, sealed: Buffer): string {
  const keyId = keyIdOf(sealed);
  if (keyId === null) return "is not in the form of a sealed secret";
  const isKnown = ring.some(({ id }) => id === keyId);
  return isKnown
    ? `does not open with the sealing key "${keyId}": that is another key, or the row was altered`
    : `is sealed under the key "${keyId}", which the ring lacks: add it to SEALING_KEYS`;
}

/** Which key sealed it, so that `reseal` finds what an old key still holds. Null for foreign bytes. */
export function keyIdOf(sealed: Buffer): string | null {
  const [version, length] = sealed;
  if (version !== VERSION || length === undefined) return null;
  if (sealed.length < 2 + length + NONCE_BYTES + TAG_BYTES) return null;
  return sealed.toString("utf8", 2, 2 + length);
}
