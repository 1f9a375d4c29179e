import "../bin/node-version.js";
import { makeReady } from "./ready.js";

await makeReady({ dev: true });
const { runOnDatabase } = await import("./on-database.js");

// Not through the test runner, which would not pass the arguments on.
const simulation = ["--test-reporter=spec", "dist/test/simulation/simulation.test.js"];
process.exitCode = await runOnDatabase([...simulation, ...process.argv.slice(2)]);
