import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { run } from "../support/program.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const COLLECTOR = fileURLToPath(new URL("../../src/observe/collector.js", import.meta.url));

test("this Node.js has every option of the collector", () => {
  const program = `
    const collector = await import(${JSON.stringify(COLLECTOR)});
    collector.tuneCollector();
    collector.saveMemory();`;
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { encoding: "utf8" },
  );
  assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
});

/** Makes V8 print all its options with their values when a program ends. */
const script =
  'import v8 from "node:v8"; process.on("exit", () => v8.setFlagsFromString("--help"));';
const TELLING = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` };

const TUNED = ["allocation-site-pretenuring", "heap-growing-percent", "semi-space-growth-factor"];

async function optionsOf(t: TestContext, ...command: string[]) {
  const folder = await aTemporaryFolder(t);
  const file = await open(join(folder, "help"), "w+"); // V8 does not wait for a full pipe.
  const child = run(command, { ...TELLING, PORT: "eighty" }, file.fd);
  await once(child, "close");
  const help = await readFile(join(folder, "help"), "utf8");
  await file.close();
  const options = help.matchAll(/default: --(no)?-?([a-z-]+)(?:=(.*))?$/gm);
  const tuned = [...options].filter(([, , name = ""]) => TUNED.includes(name));
  return Object.fromEntries(
    tuned.map(([, no = "", name = "", value = no]) => [name, value] as const),
  );
}

test("serve and the bridge tune the collector, and other commands do not", async (t) => {
  assert.deepEqual(await optionsOf(t, "bridge", "--config", "none"), {
    ...{ "allocation-site-pretenuring": "no", "heap-growing-percent": "50" },
    "semi-space-growth-factor": "1",
  });
  assert.deepEqual(await optionsOf(t, "serve"), {
    ...{ "allocation-site-pretenuring": "no", "heap-growing-percent": "100" },
    "semi-space-growth-factor": "2",
  });
  assert.deepEqual(await optionsOf(t, "doctor"), {
    ...{ "allocation-site-pretenuring": "", "heap-growing-percent": "0" },
    "semi-space-growth-factor": "2",
  });
});
