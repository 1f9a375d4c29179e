import { readFileSync } from "node:fs";

/** The text of a file in test/fixtures, independent of the folder of the compiled tests. */
export function fixture(name: string): string {
  return readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url), "utf8");
}
