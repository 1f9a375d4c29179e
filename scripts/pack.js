import "../bin/node-version.js";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billOfMaterials } from "./bill-of-materials.js";
import { LIGHT_PACKAGES } from "./light-packages.js";
import { findNpm } from "./packages.js";
import { makeReady, ROOT } from "./ready.js";
import { releaseNote } from "./release-note.js";
import { runNode } from "./run.js";

const note = await releaseNote(ROOT);
await makeReady({ dev: true });

const { name, version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const { signal } = new AbortController();
const packages = [".", ...LIGHT_PACKAGES.map((path) => `./${path}`)];
await runNode("npm pack", [findNpm(), "pack", ...packages], { cwd: ROOT, signal });

const bill = await billOfMaterials(ROOT);
writeFileSync(join(ROOT, `${name}-${version}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
writeFileSync(join(ROOT, `${name}-${version}.release.json`), `${JSON.stringify(note, null, 2)}\n`);
console.log(
  `${name}-${version}.tgz, its bill of materials (.cdx.json), and its note with commit and schema (.release.json)`,
);
