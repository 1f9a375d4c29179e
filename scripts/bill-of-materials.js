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
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  bill.metadata.component.name = manifest.name; // npm uses the folder's name.
  // Both are optional, and differ each time. Without them, a release is the same bytes twice.
  delete bill.serialNumber;
  delete bill.metadata.timestamp;

  const kept = runTimeRefs(bill, manifest);
  bill.components = bill.components.filter((component) => kept.has(component["bom-ref"]));
  bill.dependencies = bill.dependencies.filter(({ ref }) => kept.has(ref));
  for (const entry of bill.dependencies) {
    entry.dependsOn = entry.dependsOn.filter((ref) => kept.has(ref));
  }
  return bill;
}

/** The service, and what its dependencies lead to. The workspaces and the packages for development lead elsewhere too. */
function runTimeRefs({ metadata, dependencies }, manifest) {
  const self = metadata.component["bom-ref"];
  const leads = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const ours = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
  const nameOf = (ref) => ref.slice(0, ref.lastIndexOf("@"));
  const kept = new Set(leads.get(self).filter((ref) => ours.has(nameOf(ref))));
  for (const ref of kept) for (const next of leads.get(ref) ?? []) kept.add(next);
  return kept.add(self);
}
