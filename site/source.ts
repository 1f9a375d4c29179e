import { readdirSync, readFileSync } from "node:fs";

/** The checkout, seen from dist/site. */
const ROOT = new URL("../../", import.meta.url);

/** The text of a file of the checkout. */
export function readSource(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** Every file below a folder of the checkout, by its path from there. */
export function sourcesIn(folder: string): string[] {
  const found = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" });
  return found.filter((path) => path.includes(".")).sort();
}

/** The text of a compiled module, wherever this build lies. */
export function readCompiled(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
}
