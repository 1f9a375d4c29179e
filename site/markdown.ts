import { Marked, Renderer, type Tokens } from "marked";
import { codeBlock } from "./code-block.ts";
import { textOf } from "./html.ts";
import { tabs } from "./tabs.ts";

export interface Heading {
  depth: number;
  id: string;
  text: string;
}

/**
 * Renders Markdown. Headings get anchors, code is highlighted or read from its file, and `:::tabs`
 * makes tabs.
 */
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
    // Only for the mouse. It would add noise to the tab order and to the heading's name.
    const link = `<a class="anchor" href="#${id}" tabindex="-1" aria-hidden="true">#</a>`;
    return `<h${depth} id="${id}">${html} ${link}</h${depth}>\n`;
  }

  override table(token: Tokens.Table): string {
    // A wide table scrolls instead of the page.
    return `<div class="scroll">${super.table(token)}</div>\n`;
  }

  #unusedId(text: string): string {
    const id = anchorOf(text);
    const others = this.headings.filter((heading) => heading.id.replace(/--\d+$/, "") === id);
    return others.length === 0 ? id : `${id}--${others.length + 1}`;
  }
}

/** The id of a heading with this text. */
export function anchorOf(text: string): string {
  const slug = text.toLowerCase().replace(/[^a-z0-9_]+/g, "-");
  return slug.replace(/^-|-$/g, "");
}
