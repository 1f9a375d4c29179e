const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

export type Style = keyof typeof STYLES;

/** Colours a text if the output is a terminal. */
export type Paint = (style: Style, text: string) => string;

export function painter({ isTerminal }: { isTerminal: boolean }): Paint {
  if (!isTerminal) return (_, text) => text;
  return (style, text) => {
    const [on, off] = STYLES[style];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}
