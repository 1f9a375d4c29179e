import "../bin/node-version.js";
import { compiledTests } from "./compile.js";
import { makeReady, ROOT } from "./ready.js";

await makeReady({ dev: true });
const { runOnDatabase } = await import("./on-database.js");

const args = process.argv.slice(2);
const long = args.includes("--long");
const passedOn = args.filter((arg) => arg.startsWith("--test-"));
const wanted = args.filter((arg) => arg !== "--long" && !passedOn.includes(arg));
const files = compiledTests(ROOT, { long }).filter(
  (path) => wanted.length === 0 || wanted.some((part) => path.includes(part)),
);
if (files.length === 0) {
  console.error(`no test file path contains ${wanted.join(" or ")}`);
  process.exit(1);
}

const timeoutMs = long ? 1_800_000 : 300_000;
const options = ["--test-reporter=spec", "--test-concurrency=3", `--test-timeout=${timeoutMs}`];
process.exitCode = await runOnDatabase(["--test", ...options, ...passedOn, ...files]);
