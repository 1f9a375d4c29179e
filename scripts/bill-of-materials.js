import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findNpm } from "./packages.js";

const FORMAT = ["--sbom-format=cyclonedx", "--sbom-type=application", "--workspaces=false"];
const BYTES_MAX = 16 * 1024 * 1024;

/** Lists every package that runs in production, with version, licence and hash, in CycloneDX format. */
export async function billOfMaterials(root) {
  const args = [findNpm(), "sbom", ...FORMAT, "--package-lock-only"];
  const options = { cwd: root, maxBuffer: BYTES_MAX };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  const bill = JSON.parse(stdout);
  const { name } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  bill.metadata.component.name = name; // npm uses the folder's name.
  // Both are optional, and differ each time. Without them, a release is the same bytes twice.
  delete bill.serialNumber;
  delete bill.metadata.timestamp;

  // --omit=dev would also omit development packages that our dependencies need.
  bill.components = bill.components.filter((component) => !isForDevelopment(component));
  const kept = new Set([bill.metadata.component, ...bill.components].map((one) => one["bom-ref"]));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((on) => kept.has(on)) }));
  return bill;
}

function isForDevelopment({ properties = [] }) {
  return properties.some(({ name }) => name === "cdx:npm:package:development");
}
