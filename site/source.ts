import { readdirSync, readFileSync } from "node:fs";

/** The checkout, relative to dist/site. */
export const ROOT = new URL("../../", import.meta.url);

/** Reads a file of the checkout. */
export function readSource(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** Lists the files below a folder of the checkout, relative to it. */
export function sourcesIn(folder: string): string[] {
  const found = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" });
  return found.filter((path) => path.includes(".")).sort();
}

/** Reads a compiled module. */
export function readCompiled(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
}
