import { existsSync, readFileSync } from "node:fs";

/** The checkout, relative to dist/site. */
export const ROOT = new URL("../../", import.meta.url);

/** Reads a file of the checkout. */
export function readSource(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

export function isSource(path: string): boolean {
  return existsSync(new URL(path, ROOT));
}

/** Reads a compiled module. */
export function readCompiled(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
}
