/** Text that cannot make a terminal do anything. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "\ufffd");
}
