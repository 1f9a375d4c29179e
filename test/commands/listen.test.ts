import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListenOptions } from "../../src/listen/command.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import { createCommandLine } from "../support/command-line.ts";

/** Returns the options of a command line, or undefined if it is invalid. */
async function asked(...argv: string[]): Promise<ListenOptions | undefined> {
  let options: ListenOptions | undefined;
  const { run } = createCommandLine({} as Dependencies, {
    listen: (given) => {
      options = given;
      return Promise.resolve();
    },
  });
  const { status, stderr } = await run("listen", ...argv);
  assert.equal(status, options === undefined ? 2 : 0, stderr);
  return options;
}

const BEHAVIOURS: [line: string, status: number | null, delayMs: number, attempts: number][] = [
  ["", 204, 0, Infinity],
  ["--status 500", 500, 0, Infinity],
  ["--delay 12s", 204, 12_000, Infinity],
  ["--drop", null, 0, Infinity],
  ["--fail-first 2", 500, 0, 2],
  ["--fail-first 2 --status 410", 410, 0, 2],
  ["--fail-first 2 --drop", null, 0, 2],
  ["--fail-first 2 --delay 12s", 204, 12_000, 2],
  ["--fail-first 2 --delay 1s --status 503", 503, 1_000, 2],
];

for (const [line, status, delayMs, attempts] of BEHAVIOURS) {
  test(`listen ${line} sets the behaviour`, async () => {
    const options = await asked(...line.split(" ").filter(Boolean));
    assert.deepEqual(options?.behaviour, { status, delayMs, attempts });
  });
}

test("the default port is fixed, so that the URL stays the same", async () => {
  assert.deepEqual(await asked(), {
    port: 9443,
    folder: undefined,
    secrets: [],
    behaviour: { status: 204, delayMs: 0, attempts: Infinity },
    forwardTo: null,
    record: null,
    replay: null,
    json: false,
  });
});

test("the listener takes several secrets, a port, a folder and --json", async () => {
  const options = await asked(
    ...[
      "--secret",
      "whsec_a",
      "--secret",
      "whsec_b",
      "--port",
      "0",
      "--certificates",
      "x",
      "--json",
    ],
  );
  assert.deepEqual(options, {
    port: 0,
    folder: "x",
    secrets: ["whsec_a", "whsec_b"],
    behaviour: { status: 204, delayMs: 0, attempts: Infinity },
    forwardTo: null,
    record: null,
    replay: null,
    json: true,
  });
});

test("the listener forwards, records and replays", async () => {
  const here = "http://localhost:3000/hooks";
  const listening = await asked("--forward-to", here, "--record", "file");
  assert.deepEqual([listening?.forwardTo?.href, listening?.record], [here, "file"]);
  const replaying = await asked("--replay", "file", "--forward-to", here);
  assert.equal(replaying?.replay, "file");
  const elsewhere = ["--forward-to", "https://staging.example.com/hooks"];
  assert.ok(await asked(...elsewhere, "--forward-anywhere"));
});

for (const line of [
  "--status 99",
  "--status 600",
  "--status 100",
  "--status ok",
  "--delay 12",
  "--delay 25h",
  "--fail-first 0",
  "--fail-first 2 --status 200",
  "--drop --status 500",
  "--port 65536",
  "--secret vck_x",
  "--forward-to https://staging.example.com/hooks",
  "--forward-to http://user:pass@localhost/",
  "--forward-to ftp://localhost/",
  "--forward-to localhost:3000",
  "--replay file",
  "--replay file --forward-to http://localhost/ --record other",
  "--replay file --forward-to http://localhost/ --status 500",
]) {
  test(`listen ${line} is refused`, async () => {
    assert.equal(await asked(...line.split(" ")), undefined);
  });
}
