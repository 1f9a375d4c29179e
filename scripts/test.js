import "../bin/node-version.js";
import { compiledTests } from "./compile.js";
import { makeReady, ROOT } from "./ready.js";

await makeReady({ dev: true });
const { runOnDatabase } = await import("./on-database.js");

const wanted = process.argv.slice(2);
const files = compiledTests(ROOT).filter(
  (path) => wanted.length === 0 || wanted.some((part) => path.includes(part)),
);
if (files.length === 0) {
  console.error(`no test file path contains ${wanted.join(" or ")}`);
  process.exit(1);
}

const options = ["--test-reporter=spec", "--test-concurrency=3", "--test-timeout=300000"];
process.exitCode = await runOnDatabase(["--test", ...options, ...files]);
