import "../bin/node-version.js";
import { makeReady } from "./ready.js";

await makeReady({ dev: true });
const { runOnDatabase } = await import("./on-database.js");

// Run directly, because the test runner does not pass arguments on.
const simulation = ["--test-reporter=spec", "dist/test/simulation/simulation.test.js"];
process.exitCode = await runOnDatabase([...simulation, ...process.argv.slice(2)]);
