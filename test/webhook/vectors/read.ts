import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../support/root.ts";
import type { Case } from "./case.ts";
import type { Vectors } from "./document.ts";

/** The published vectors with decoded bodies. */
export function readVectors(): (Omit<Case, "body"> & { body: Buffer })[] {
  const { cases } = JSON.parse(readFileSync(join(ROOT, "vectors/signature.json"), "utf8")) as Vectors;
  return cases.map((one) => ({ ...one, body: bytesOf(one) }));
}

function bytesOf({ body, repeat }: Case): Buffer {
  return Buffer.concat(Array<Buffer>(repeat).fill(Buffer.from(body, "base64")));
}
