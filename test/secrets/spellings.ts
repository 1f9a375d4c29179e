/**
 * Every encoding in which these bytes may stand in a text or a file: raw, URL-encoded, hex, and
 * base64 at any offset.
 */
export function spellingsOf(secret: string | Buffer): Buffer[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const spellings = [
    bytes.toString("latin1"),
    encodeURIComponent(bytes.toString("latin1")),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => inBase64(bytes, offset)),
  ];
  return [...new Set(spellings)].map((spelling) => Buffer.from(spelling, "latin1"));
}

/** The base64 characters that depend only on these bytes if they start at `offset`, modulo 3. */
function inBase64(bytes: Buffer, offset: number): string[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64url");
  const first = Math.ceil((offset * 8) / 6);
  const end = Math.floor(((offset + bytes.length) * 8) / 6);
  const own = text.slice(first, end);
  return [own, own.replaceAll("-", "+").replaceAll("_", "/")];
}
