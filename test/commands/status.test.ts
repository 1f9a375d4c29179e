import assert from "node:assert/strict";
import { test } from "node:test";
import { OperatorApi } from "../../src/commands/operator-api.ts";
import { showOverview } from "../../src/subjects/activity/commands.ts";
import { countRequest } from "../../src/subjects/activity/counted.ts";
import { type Overview, unknownOverview } from "../../src/subjects/activity/overview.ts";
import { recordProcess } from "../../src/subjects/processes/sql.ts";
import { createCommandLine } from "../support/command-line.ts";
import { aCountedEngine, identity, REPORT } from "../support/counted-engine.ts";
import { createDatabase } from "../support/database.ts";
import { aSubscription, publish, refused } from "../support/engine.ts";

const db = await createDatabase();
const { deps, clock, attempt } = await aCountedEngine(db);
const { run, json } = createCommandLine(deps);

const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

test("status shows the state of the service in 120 columns, and --json is the API's response", async () => {
  const { organizationId } = await aSubscription(deps, undefined, "https://slow.example/hooks");
  await publish(deps, organizationId);
  await attempt(() => refused);
  countRequest(deps.activity, organizationId, {
    passed: true,
    limit: 1,
    remaining: 1,
    resetSeconds: 1,
  });
  await recordProcess(db, { ...identity, startedAt: clock() }, REPORT, clock());

  const { status, stdout } = await run("status");
  assert.equal(status, 0);
  assert.match(stdout, /^ok: the service is healthy\n/);
  assert.match(
    stdout,
    /FAILING +RECEIVER +FAILED +SUCCEED +IN A ROW +STATE\n\S+ +https:\/\/slow\.example\/hooks +1 of 1 +0 % +1 +active\n {2}why: partner-api delivery list --since 1h --subscription wh_/,
  );
  assert.match(stdout, /one:1 +all +1\.0\.0 +running/);
  assert.ok(widest(stdout) <= 120);

  const overview = await json<Overview>("status");
  assert.equal(overview.status, "ok");
  assert.equal(overview.failing.length, 1);
});

test("a long problem is wrapped, long names are cut, and no control character reaches the terminal", async () => {
  const overview = await json<Overview>("status");
  const [failing] = overview.failing;
  assert.ok(failing);
  const text = showOverview(
    {
      ...overview,
      status: "down",
      problems: [
        {
          code: "no_resolver",
          detail: `\u001b[2J${"deliveries wait ".repeat(20)}`,
          since: clock().toISOString(),
        },
      ],
      failing: Array.from({ length: 10 }, () => ({
        ...failing,
        organization: { id: "", slug: "o".repeat(63) },
        url: `https://example.com/${"a".repeat(2_000)}`,
        attempts: 1_000_000,
        attempt_ms: { p50: 300_000, p99: 300_000 },
      })),
    },
    clock(),
    { isTerminal: false },
  );
  assert.match(
    text,
    /^down: the service does not accept events, or does not deliver them\n {2}no_resolver, since 0 s ago: /,
  );
  assert.ok(widest(text) <= 120, String(widest(text)));
  assert.ok(!text.includes("\u001b"));
});

test("status ends with status 1 if the service is not healthy, also with --json", async () => {
  const overview = await json<Overview>("status");
  for (const status of ["degraded", "down"] as const) {
    const text = JSON.stringify({ ...overview, status });
    const { run } = createCommandLine(deps, {
      withOperatorApi: (use) => use(new OperatorApi(() => Promise.resolve({ status: 200, text }))),
    });
    for (const argv of [["status"], ["status", "--json"]]) {
      const said = await run(...argv);
      assert.deepEqual([said.status, said.stderr], [1, `error: the service is ${status}\n`]);
      assert.match(said.stdout, new RegExp(status));
    }
  }
});

test("without the database, processes are not known rather than absent", async () => {
  const shown = (overview: Overview) => showOverview(overview, clock(), { isTerminal: false });
  assert.match(shown(unknownOverview([])), /^Processes are not known while the database is/m);
  assert.match(shown({ ...(await json<Overview>("status")), processes: [] }), /^No process has/m);
});

test("--watch shows an error while the service is away, and goes on", async () => {
  const overview = await json<Overview>("status");
  const answers = [
    { status: 200, text: JSON.stringify(overview) },
    { status: 503, text: JSON.stringify({ code: "unavailable", detail: "The database is away." }) },
    { status: 200, text: JSON.stringify(overview) },
    { status: 401, text: JSON.stringify({ code: "unauthenticated", detail: "Another token." }) },
  ];
  let turns = 0;
  const api = new OperatorApi(() => {
    const answer = answers[turns++];
    assert.ok(answer);
    return Promise.resolve(answer);
  });
  const { run } = createCommandLine(deps, {
    withOperatorApi: (use) => use(api),
    pause: () => Promise.resolve(),
  });
  const { status, stdout, stderr } = await run("status", "--watch");
  assert.equal(stdout.match(/^ok: the service is healthy$/gm)?.length, 2);
  assert.match(stderr, /^error: The database is away\.\nerror: Another token\.\n$/);
  assert.equal(status, 1, "a wrong token does not become right");
});

test("the state of a process is coloured on a terminal", async () => {
  const text = showOverview(await json<Overview>("status"), clock(), { isTerminal: true });
  assert.ok(text.includes("\u001b[32mrunning\u001b[39m"), text);
});
