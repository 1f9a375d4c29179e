/** The longest line, unless a word is longer. */
const WIDTH = 120;

/** Breaks a text between words, and indents the further lines. Its first `invisible` characters only colour it. */
export function wrap(text: string, indent: string, invisible = 0): string {
  const lines = [""];
  let room = WIDTH + invisible;
  for (const word of text.split(/(?<= )/)) {
    const last = lines.at(-1) ?? "";
    if (last.length + word.trimEnd().length <= room) lines[lines.length - 1] = last + word;
    else {
      lines.push(indent + word);
      room = WIDTH;
    }
  }
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
