import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { ROOT } from "./source.ts";

/** One script for browsers, from a file of the checkout and everything that it imports. */
export function bundleScript(path: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL(path, ROOT))],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2023",
    legalComments: "inline",
  });
  return outputFiles.map(({ text }) => text).join("");
}
