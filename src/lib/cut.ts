const TEXT_MAX = 1_000;

/** Returns the beginning of a text that another party wrote, for the log and the terminal. */
export function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}
