import "../bin/node-version.js";
import { readFileSync } from "node:fs";
import { compiledTests } from "./compile.js";
import { makeReady, ROOT } from "./ready.js";

/**
 * Runs the tests that start the service through `aRig`, with four shards on two servers. Their organizations are in another
 * shard in each turn. `TEST_SHARD=02` runs one turn; other arguments are parts of file names.
 */
await makeReady({ dev: true });
const { runOnDatabase } = await import("./on-database.js");

/** They bring shards or databases of their own. */
const OTHERS = ["end-to-end/shard", "postgres/pgbouncer"];

const wanted = process.argv.slice(2);
const files = compiledTests(ROOT, { long: false })
  .filter((path) => readFileSync(path, "utf8").includes("/support/rig.js"))
  .filter((path) => !OTHERS.some((part) => path.includes(part)))
  .filter((path) => wanted.length === 0 || wanted.some((part) => path.includes(part)));
const shards = process.env.TEST_SHARD ? [process.env.TEST_SHARD] : ["00", "01", "02", "03"];
const options = ["--test-reporter=spec", "--test-concurrency=2", "--test-timeout=300000"];

for (const shard of shards) {
  console.log(`organizations in shard ${shard}`);
  const status = await runOnDatabase(["--test", ...options, ...files], { shard });
  if (status > 128) process.exit(status);
  process.exitCode ||= status;
}
