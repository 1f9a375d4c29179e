import { aCase, anEventWith, EVENT, mac, NOW, SECRET } from "./case.ts";

/** A verifier that converts bodies to text fails on these. */
export const BODIES = [
  aCase("valid", "a delivery as it is sent"),
  event("an event with letters beyond ASCII", anEventWith('{"text":"Zürich, 東京, 🏔"}')),
  event("an event with escapes", anEventWith('{"text":"\\u00e9\\u0000\\/\\ud83c\\udfd4"}')),
  event("an event with numbers that change when serialized again", anEventWith('{"n":1.0,"m":1e2}')),
  event("an event with a number beyond 2^53", anEventWith('{"n":9007199254740993}')),
  event("an event with spaces", EVENT.replaceAll(",", " ,\t")),
  event("an event over several lines", JSON.stringify(JSON.parse(EVENT), null, 2)),
  event("an event over several lines with CRLF", EVENT.replaceAll(",", ",\r\n")),
  event("an event with a line break at its end", `${EVENT}\n`),
  event("an event with a byte order mark", `\ufeff${EVENT}`),
  signed("an empty body", ""),
  signed("a line break alone", "\n"),
  signed("a dot alone", "."),
  signed("a body that starts like another timestamp", "1767225600123.{}"),
  signed("a zero byte alone", Uint8Array.of(0)),
  signed("a body of zero bytes and text", "\0a\0b"),
  signed("bytes that are not UTF-8", Uint8Array.of(0xff, 0xfe, 0xfd)),
  signed("an event in Latin-1", Buffer.from(anEventWith('{"text":"Zürich"}'), "latin1")),
  signed("an event in UTF-16", Buffer.from(EVENT, "utf16le")),
  signed("a character cut in half", Buffer.from("é").subarray(0, 1)),
  signed("half a surrogate pair in UTF-8", Uint8Array.of(0xed, 0xa0, 0x80)),
  signed("an overlong zero byte", Uint8Array.of(0xc0, 0x80)),
  signed("every byte value", Uint8Array.from({ length: 256 }, (_, byte) => byte)),
  aCase("valid", "1 MB of text", { body: "0123456789abcdef", repeat: 65_536 }),
  aCase("valid", "1 MB that is not UTF-8", { body: Uint8Array.of(0x80, 0xff), repeat: 524_288 }),

  changed("a body with one bit changed", EVENT.replace("ping", "pinf")),
  changed("a body with a line break added", `${EVENT}\n`),
  changed("a body with a space added", `${EVENT} `),
  changed("a body cut short", EVENT.slice(0, -1)),
  changed("a removed body", ""),
  changed("a body serialized again by another JSON library", EVENT.replaceAll('":"', '": "')),
  changed("a body with its members in another order", reordered(EVENT)),
  changed("a body with a zero byte added", `${EVENT}\0`),
  changed("two bodies in one", EVENT + EVENT),
  aCase("forged", "1 MB with the last bit changed", {
    signature: `sha256=${mac(SECRET, `${NOW}.`, "0".repeat(1 << 20))}`,
    body: "0".repeat(1_023) + "1",
    repeat: 1_024,
  }),
  aCase("forged", "bytes that are not UTF-8, replaced by others", {
    signature: `sha256=${mac(SECRET, `${NOW}.`, Uint8Array.of(0xff))}`,
    body: Uint8Array.of(0xfe),
  }),
];

function event(what: string, body: string) {
  return aCase("valid", what, { body, event: true });
}

function signed(what: string, body: string | Uint8Array) {
  return aCase("valid", what, { body });
}

function changed(what: string, body: string) {
  return aCase("forged", what, { signature: `sha256=${mac(SECRET, `${NOW}.`, EVENT)}`, body });
}

function reordered(text: string): string {
  const members = Object.entries(JSON.parse(text) as object);
  return JSON.stringify(Object.fromEntries(members.reverse()));
}
