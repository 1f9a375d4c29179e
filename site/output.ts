import { createHash } from "node:crypto";
import type { SiteFile } from "../src/http/docs/site.ts";

/** A file to write, with its path for readers. */
export interface Output extends SiteFile {
  path: string;
  content: string;
}

export const TYPES = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  json: "application/json",
  markdown: "text/markdown; charset=utf-8",
  text: "text/plain; charset=utf-8",
} as const;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2450c8"/><path d="M8 17l5 5 11-12" fill="none" stroke="#fff" stroke-width="3.5"/></svg>`;

/** A digest for paths, so that a page never loads a file of another build. */
export function digestOf(content: string): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 10);
}
