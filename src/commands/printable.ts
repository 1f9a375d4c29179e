/** Text that cannot make a terminal do anything, nor turn the rest of a line round. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
}
