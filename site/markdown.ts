import { Marked, Renderer, type Tokens } from "marked";
import { codeBlock } from "./code-block.ts";
import { textOf } from "./html.ts";
import { tabs } from "./tabs.ts";

export interface Heading {
  depth: number;
  id: string;
  text: string;
}

/** HTML from our Markdown: headings get anchors, code is coloured or read from its file, `:::tabs` makes tabs. */
export function renderMarkdown(markdown: string): { html: string; headings: Heading[] } {
  const renderer = new DocsRenderer();
  const html = new Marked({ extensions: [tabs] }).parse(markdown, { renderer, async: false });
  return { html, headings: renderer.headings };
}

class DocsRenderer extends Renderer {
  readonly headings: Heading[] = [];

  override code(token: Tokens.Code): string {
    return codeBlock(token);
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    const html = this.parser.parseInline(tokens);
    const text = textOf(html);
    const id = this.#unusedId(text);
    this.headings.push({ depth, id, text });
    // For the mouse: on the way of the keyboard, and in the heading's name, it would be noise.
    const link = `<a class="anchor" href="#${id}" tabindex="-1" aria-hidden="true">#</a>`;
    return `<h${depth} id="${id}">${html} ${link}</h${depth}>\n`;
  }

  override table(token: Tokens.Table): string {
    // A wide table scrolls by itself, and not the page with it.
    return `<div class="scroll">${super.table(token)}</div>\n`;
  }

  #unusedId(text: string): string {
    const slug = text.toLowerCase().replace(/[^a-z0-9_]+/g, "-");
    const id = slug.replace(/^-|-$/g, "");
    const others = this.headings.filter((heading) => heading.id.replace(/--\d+$/, "") === id);
    return others.length === 0 ? id : `${id}--${others.length + 1}`;
  }
}
