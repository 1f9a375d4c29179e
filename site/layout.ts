import { ABOUT } from "../src/http/docs/routes.ts";
import { escapeHtml } from "./html.ts";
import type { Heading } from "./markdown.ts";
import type { Page } from "./page.ts";
import { markdownPath, NOT_FOUND, PAGES, type PageSource } from "./pages.ts";

export interface AssetPaths {
  style: string;
  script: string;
  appearance: string;
  icon: string;
  index: string;
}

/** The document around a page. All scripts, styles and addresses are our own. */
export function layout(page: Page, assets: AssetPaths): string {
  const title = page.name === "index" ? "Partner API" : `${page.title} · Partner API`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(page.summary)}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
${alternate(page)}<script src="${assets.appearance}"></script>
<script src="${assets.script}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="/docs">Partner API</a>
<search>
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false" data-index="${assets.index}">
<div id="results" hidden></div>
<p id="found" class="unseen" role="status"></p>
</search>
<button class="appearance" type="button">System</button>
<button class="menu" type="button" aria-expanded="false" aria-controls="pages">Menu</button>
</header>
<div class="frame">
<nav id="pages" class="pages" aria-label="Documentation">
${navigation(page)}
</nav>
<main id="content" tabindex="-1">
<h1>${escapeHtml(page.title)}</h1>
<p class="summary">${escapeHtml(page.summary)}</p>
${page.html}
${ABOUT.contact}
${neighbours(page)}
${source(page)}</main>
${contents(page.headings)}
</div>
</body>
</html>
`;
}

function navigation(current: PageSource): string {
  const groups = [...new Set(PAGES.map(({ group }) => group))];
  return groups
    .map((group) => {
      const items = PAGES.filter((page) => page.group === group).map(
        ({ path, title, name }) =>
          `<li><a href="${path}"${name === current.name ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a></li>`,
      );
      return `<h2>${group}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
    })
    .join("\n");
}

/** A list of the page's headings: second-level ones, or all if there are few. Empty if there are too few. */
function contents(headings: readonly Heading[]): string {
  const chapters = headings.filter(({ depth }) => depth === 2);
  const shown = chapters.length < 3 ? headings : chapters;
  if (shown.length < 3) return "";
  const items = shown.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`);
  return `<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${items.join("\n")}\n</ul>\n</nav>`;
}

function neighbours({ name }: PageSource): string {
  const at = PAGES.findIndex((page) => page.name === name);
  if (at === -1) return "";
  const link = (page: PageSource | undefined, rel: "prev" | "next", label: string) =>
    page
      ? `<a rel="${rel}" href="${page.path}"><small>${label}</small> ${escapeHtml(page.title)}</a>`
      : "";
  return `<nav class="neighbours" aria-label="Previous and next page">${link(PAGES[at - 1], "prev", "Previous")}${link(PAGES[at + 1], "next", "Next")}</nav>`;
}

/** The same text for tools. A page that is not there has none. */
function alternate(page: Page): string {
  if (page.name === NOT_FOUND.name) return "";
  return `<link rel="alternate" href="${markdownPath(page)}" type="text/markdown">\n`;
}

function source(page: Page): string {
  if (page.name === NOT_FOUND.name) return "";
  return `<p class="source"><a href="${markdownPath(page)}">This page as Markdown</a></p>\n`;
}
