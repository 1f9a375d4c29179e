/** Replaces control and format characters, so that the text cannot control a terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
}

/** The same of several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
