import "../bin/node-version.js";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeReady, ROOT } from "./ready.js";

await makeReady({ dev: true });
const { encodeVectors, VECTORS } = await import("../dist/test/webhook/vectors/document.js");
writeFileSync(join(ROOT, "vectors/signature.json"), encodeVectors(VECTORS));
