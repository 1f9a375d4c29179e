const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

export function heading(title: string): string {
  const id = title.toLowerCase().replaceAll(" ", "-");
  const link = `<a class="anchor" href="#${id}" tabindex="-1" aria-hidden="true">#</a>`;
  return `<h2 id="${id}">${escapeHtml(title)} ${link}</h2>\n`;
}

/** Cells are HTML. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${text}</${tag}>`).join("")}</tr>\n`;
  const body = rows.map((row) => cells("td", row)).join("");
  return `<div class="members"><div class="scroll"><table>\n<thead>\n${cells("th", headings)}</thead>\n<tbody>\n${body}</tbody>\n</table></div></div>\n`;
}

/** Returns a block of code like those of the build. `code` is HTML. */
export function codeBlock(language: string, code: string): string {
  return `<figure class="code"><pre><code data-language="${language}">${code}</code></pre></figure>\n`;
}

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)|[^"\d\-tfn]+|./g;

/** Returns JSON with the classes that the build uses. */
export function highlightJson(json: string): string {
  return json.replace(
    TOKENS,
    (token, text?: string, colon?: string, number?: string, word?: string) => {
      if (text !== undefined && colon !== undefined) return span("attr", text) + colon;
      if (text !== undefined) return span("string", text);
      if (number !== undefined) return span("number", number);
      return word === undefined ? escapeHtml(token) : span("literal", word);
    },
  );
}

export function span(kind: string, text: string): string {
  return `<span class="hljs-${kind}">${escapeHtml(text)}</span>`;
}
