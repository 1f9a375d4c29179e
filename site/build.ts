import { mkdir, rm, writeFile } from "node:fs/promises";
import type { SiteManifest } from "../src/http/docs/site.ts";
import { bundleScript } from "./bundle.ts";
import { consoleFiles } from "./console.ts";
import { deskFiles } from "./desk.ts";
import { downloads } from "./downloads.ts";
import { layout } from "./layout.ts";
import { llmsText } from "./llms-text.ts";
import { digestOf, ICON, type Output, TYPES } from "./output.ts";
import { renderPage } from "./page.ts";
import { EVENT_TYPE, markdownPath, NOT_FOUND, PAGES, type PageSource } from "./pages.ts";
import { searchIndex } from "./search-index.ts";
import { readSource } from "./source.ts";

/** Writes the documentation, the console, the desk and the manifest of their files into `folder`. */
export async function buildSite(folder: URL): Promise<void> {
  const outputs = (await Promise.all([render(), consoleFiles(), deskFiles()])).flat();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const { file, content } of outputs) await writeFile(new URL(file, folder), content);

  const manifest: SiteManifest = Object.fromEntries(
    outputs.map(({ path, file, type }) => [path, { file, type }]),
  );
  await writeFile(new URL("site.json", folder), JSON.stringify(manifest, null, 2));
}

/** In no list and in no search. */
const HIDDEN = [NOT_FOUND, EVENT_TYPE];

async function render(): Promise<Output[]> {
  const pages = await Promise.all([...PAGES, ...HIDDEN].map(renderPage));
  const index = JSON.stringify(searchIndex(pages.slice(0, PAGES.length)));
  const assets = {
    style: asset("docs.css", TYPES.css, readSource("site/assets/docs.css")),
    script: asset("docs.js", TYPES.js, bundleScript("site/assets/docs.js")),
    appearance: asset("appearance.js", TYPES.js, bundleScript("site/assets/appearance.js")),
    icon: asset("icon.svg", TYPES.svg, ICON),
    index: asset("search.json", TYPES.json, index),
  };
  const paths = {
    style: assets.style.path,
    script: assets.script.path,
    appearance: assets.appearance.path,
    icon: assets.icon.path,
    index: assets.index.path,
  };

  return [
    ...pages.map((page) => ({
      path: page.path,
      file: `${page.name}.html`,
      type: TYPES.html,
      content: layout(page, paths),
    })),
    ...pages.filter(hasMarkdown).map((page) => ({
      path: markdownPath(page),
      file: `markdown.${page.name}`,
      type: TYPES.markdown,
      content: page.markdown,
    })),
    { path: "/docs/llms.txt", file: "markdown.llms", type: TYPES.text, content: llmsText() },
    ...Object.values(assets),
    ...downloads().map(({ name, content }) => ({
      path: `/docs/files/${name}`,
      file: `file.${name}`,
      type: TYPES.text,
      content,
    })),
  ];
}

/** The service writes the others itself. */
function hasMarkdown({ name }: PageSource): boolean {
  return name !== NOT_FOUND.name && name !== EVENT_TYPE.name;
}

/** A file with a digest of its content in its name. */
function asset(name: string, type: string, content: string): Output {
  const file = name.replace(".", `.${digestOf(content)}.`);
  return { path: `/docs/assets/${file}`, file, type, content };
}
