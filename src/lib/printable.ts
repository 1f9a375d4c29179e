/** Replaces control and format characters, so that the text cannot control a terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
}

/** The same of several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** Writes control and format characters of JSON as escapes, so that it has the same values and cannot control a terminal. */
export function printableJson(json: string): string {
  return MORE_THAN_ASCII.test(json) ? json.replace(CONTROLS, escaped) : json;
}

// Most lines of a log are ASCII, and this search costs less than the next one.
const MORE_THAN_ASCII = /[^\n -~]/;
// JSON escapes the first 32 characters already. A line feed is between its members.
const CONTROLS = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
