import { GENERATED } from "./generated.ts";
import { type Heading, renderMarkdown } from "./markdown.ts";
import type { PageSource } from "./pages.ts";
import { plainMarkdown } from "./plain-markdown.ts";
import { readSource } from "./source.ts";

export interface Page extends PageSource {
  /** The content below the title. */
  html: string;
  /** The same as Markdown. */
  markdown: string;
  headings: Heading[];
}

/** Renders a page from its Markdown file. A line `{{name}}` stands for generated content. */
export async function renderPage(source: PageSource): Promise<Page> {
  const written = readSource(`site/pages/${source.name}.md`);
  const parts = written.split(/^\{\{([a-z-]+)\}\}$/m); // Text and names alternate.
  let markdown = "";
  for (const [i, part] of parts.entries()) markdown += i % 2 === 0 ? part : await generate(part);
  return { ...source, ...renderMarkdown(markdown), markdown: plainMarkdown(source, markdown) };
}

async function generate(name: string): Promise<string> {
  const generator = GENERATED[name];
  if (!generator) throw new Error(`nothing generates {{${name}}}`);
  return generator();
}
