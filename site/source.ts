import { existsSync, readFileSync } from "node:fs";

/** The checkout, relative to dist/site. */
export const ROOT = new URL("../../", import.meta.url);

/** The Go module's path in the sources. A release sets the one under which it is published. */
const WRITTEN = "partner-api.example/webhook";
const { GO_MODULE = "" } = process.env;

/** Reads a file of the checkout. */
export function readSource(path: string): string {
  const written = readFileSync(new URL(path, ROOT), "utf8");
  return GO_MODULE === "" ? written : written.replaceAll(WRITTEN, GO_MODULE);
}

export function isSource(path: string): boolean {
  return existsSync(new URL(path, ROOT));
}

/** Reads a compiled module. */
export function readCompiled(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
}
