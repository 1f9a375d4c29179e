import "../bin/node-version.js";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findNpm } from "./packages.js";

// Checks all packages of each package-lock.json for known vulnerabilities. A registry without audits does not
// fail the check, but prints a warning.

const FOLDERS = [".", "spectral"];

for (const folder of FOLDERS.filter((one) => one === "." || existsSync(one))) {
  const ending = folder === "." ? "" : ` in ${folder}`;
  const { stdout, stderr } = audit(folder, "--json");
  const { vulnerabilities, metadata, message } = parse(stdout);
  if (vulnerabilities && metadata.vulnerabilities.total === 0) {
    const { total } = metadata.dependencies;
    console.log(`${total} packages without known vulnerabilities${ending}`);
  } else if (message && !vulnerabilities) {
    console.log(`NOT AUDITED${ending}, because the registry has no usable answer: ${message}`);
    console.log("Before a release, run `npm audit` with another registry.");
  } else {
    console.log(vulnerabilities ? audit(folder).stdout : stdout + stderr);
    process.exitCode = 1;
  }
}

function audit(cwd, ...options) {
  return spawnSync(process.execPath, [findNpm(), "audit", ...options], { cwd, encoding: "utf8" });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
