import { textOf } from "./html.ts";
import type { Page } from "./page.ts";

interface Section {
  /** Relative to `/docs`, with the anchor. */
  href: string;
  page: string;
  title: string;
  text: string;
}

/** The search index: every page, split at its headings. */
export function searchIndex(pages: readonly Page[]): Section[] {
  return pages.flatMap((page) => {
    // With the line break, the intro comes first even if the page begins with a heading.
    const [intro = "", ...sections] = `\n${page.html}`.split(/(?=<h[23] id=")/);
    const href = page.path.slice("/docs".length);
    const head = { href, page: page.title, title: page.title };
    return [
      { ...head, text: `${page.summary} ${textOf(intro)}` },
      ...sections.map((html) => sectionOf(html, head)),
    ];
  });
}

function sectionOf(html: string, { href, page }: Omit<Section, "text">): Section {
  const [heading = "", id = ""] = /^<h[23] id="([^"]+)">.*?<\/h[23]>/s.exec(html) ?? [];
  const title = textOf(heading.replace(/<a class="anchor".*?<\/a>/, ""));
  return { href: `${href}#${id}`, page, title, text: textOf(html.slice(heading.length)) };
}
