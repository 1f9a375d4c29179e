import "../bin/node-version.js";
import { spawnSync } from "node:child_process";
import { findNpm } from "./packages.js";

// Asks the registry whether any package of package-lock.json, for production or for development, has a known hole.
// One that cannot say is no reason to stop. But it has not said that all is well, and that must be seen.

const audit = (...options) =>
  spawnSync(process.execPath, [findNpm(), "audit", ...options], { encoding: "utf8" });

const { stdout, stderr } = audit("--json");
const { vulnerabilities, metadata, message } = parse(stdout);
if (vulnerabilities && metadata.vulnerabilities.total === 0) {
  console.log(`${metadata.dependencies.total} packages, none with a known hole`);
} else if (message && !vulnerabilities) {
  console.log(`NOT AUDITED, since the registry gives no answer to go by: ${message}`);
  console.log("Run `npm audit` with one that does before a release.");
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
