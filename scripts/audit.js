import "../bin/node-version.js";
import { spawnSync } from "node:child_process";
import { findNpm } from "./packages.js";

// Checks all packages of package-lock.json for known vulnerabilities. A registry without audits does not
// fail the check, but prints a warning.

const audit = (...options) =>
  spawnSync(process.execPath, [findNpm(), "audit", ...options], { encoding: "utf8" });

const { stdout, stderr } = audit("--json");
const { vulnerabilities, metadata, message } = parse(stdout);
if (vulnerabilities && metadata.vulnerabilities.total === 0) {
  console.log(`${metadata.dependencies.total} packages without known vulnerabilities`);
} else if (message && !vulnerabilities) {
  console.log(`NOT AUDITED, because the registry has no usable answer: ${message}`);
  console.log("Before a release, run `npm audit` with another registry.");
} else {
  console.log(vulnerabilities ? audit().stdout : stdout + stderr);
  process.exitCode = 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
