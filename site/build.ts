import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import type { SiteFile, SiteManifest } from "../src/http/docs/manifest.ts";
import { downloads } from "./downloads.ts";
import { layout } from "./layout.ts";
import { NOT_FOUND, PAGES } from "./pages.ts";
import { renderPage } from "./page.ts";
import { searchIndex } from "./search-index.ts";
import { readSource } from "./source.ts";

const HTML = "text/html; charset=utf-8";
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2450c8"/><path d="M8 17l5 5 11-12" fill="none" stroke="#fff" stroke-width="3.5"/></svg>`;

interface Output extends SiteFile {
  /** Where partners find it. */
  path: string;
  content: string;
}

/** Writes the whole documentation into `folder`: the files, and the list by which they are served. */
export async function buildSite(folder: URL): Promise<void> {
  const outputs = await render();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const { file, content } of outputs) await writeFile(new URL(file, folder), content);

  const manifest: SiteManifest = Object.fromEntries(
    outputs.map(({ path, file, type, isForever }) => [path, { file, type, isForever }]),
  );
  await writeFile(new URL("site.json", folder), JSON.stringify(manifest, null, 2));
}

async function render(): Promise<Output[]> {
  const pages = await Promise.all([...PAGES, NOT_FOUND].map(renderPage));
  const index = JSON.stringify(searchIndex(pages.filter(({ path }) => path !== NOT_FOUND.path)));
  const assets = {
    style: asset("docs.css", "text/css; charset=utf-8", readSource("site/assets/docs.css")),
    script: asset("docs.js", "text/javascript; charset=utf-8", readSource("site/assets/docs.js")),
    icon: asset("icon.svg", "image/svg+xml", ICON),
    index: asset("search.json", "application/json", index),
  };
  const paths = {
    style: assets.style.path,
    script: assets.script.path,
    icon: assets.icon.path,
    index: assets.index.path,
  };

  return [
    ...pages.map((page) => ({
      path: page.path,
      file: `${page.name}.html`,
      type: HTML,
      isForever: false,
      content: layout(page, paths),
    })),
    ...Object.values(assets),
    ...downloads().map(({ name, content }) => ({
      path: `/docs/files/${name}`,
      file: `file.${name}`,
      type: "text/plain; charset=utf-8",
      isForever: false,
      content,
    })),
  ];
}

/** A file whose name changes with its content, so that browsers may keep it for ever. */
function asset(name: string, type: string, content: string): Output {
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 10);
  const file = name.replace(".", `.${digest}.`);
  return { path: `/docs/assets/${file}`, file, type, isForever: true, content };
}
