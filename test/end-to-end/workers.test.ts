import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openPool } from "../support/database.ts";
import { ADMIN_TOKEN, runProgram } from "../support/program.ts";
import { eventIdOf } from "../support/receiver.ts";
import { aRig, aSubscriber } from "../support/rig.ts";
import {
  anAttemptInFlight,
  childrenOf,
  pidOf,
  readyz,
  running,
  startWorkers,
  until,
} from "../support/workers.ts";

test("three workers serve the same two ports, each is a process, and the log has one line that says ready", async (t) => {
  const program = await startWorkers(t, { ...(await aRig(t)), WORKERS: "3" });
  const ready = program.log.filter(({ msg }) => msg === "ready");
  assert.deepEqual(
    ready.map(({ workers, role }) => [workers, role]),
    [[3, "all"]],
  );
  const pids = [1, 2, 3].map((worker) => pidOf(program, worker));
  await until(async () => (await running(program)).length === 3);
  assert.deepEqual((await running(program)).toSorted(), pids.toSorted());
  assert.deepEqual((await childrenOf(program.process.pid)).toSorted(), pids.toSorted());

  // Each connection gets a worker in turn.
  const { receiver, partner, subscription } = await aSubscriber(t, program);
  const answers = await Promise.all(Array.from({ length: 30 }, () => partner.ping(subscription)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  for (let i = 0; i < 30; i++) await receiver.next();
  const { checks } = await readyz(program.partnerUrl);
  assert.deepEqual(
    checks.find(({ name }) => name === "workers"),
    {
      ...{ name: "workers", ok: true },
      detail: "3 of 3 serve",
    },
  );
  assert.equal(await program.end("SIGTERM"), 0, program.complaint());
});

const CLIENTS = 12;

test("kill -9 of a worker under load costs its own connections alone, and no event that was accepted", async (t) => {
  const program = await startWorkers(t, {
    ...(await aRig(t)),
    // A lease of three seconds. A busy machine may fail attempts, which is not the subject.
    ...{ WORKERS: "3", ATTEMPT_TIMEOUT: "1s", AUTO_DISABLE_AFTER: "1000000" },
  });
  const { receiver, partner, subscription } = await aSubscriber(t, program, {
    rateLimitPerMinute: 1_000_000,
  });
  const accepted = new Set<string>();
  let broken = 0;
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      await sleep(20);
      await partner.ping(subscription).then(
        ({ status, body }) => {
          assert.equal(status, 200);
          accepted.add(String(body["event_id"]));
        },
        () => broken++,
      );
    }
  });
  await until(() => accepted.size > 100);
  const before = pidOf(program, 2);
  process.kill(before, "SIGKILL");
  await until(() => pidOf(program, 2) !== before);
  const soFar = accepted.size;
  await until(() => accepted.size > soFar + 100);
  isOver = true;
  await Promise.all(clients);
  // A client has one request under way, and a third of the connections went to the worker.
  assert.ok(broken <= CLIENTS, `${broken} requests failed`);

  await until(async () => {
    await sleep(200);
    const arrived = new Set(receiver.requests.map(eventIdOf));
    return [...accepted].every((id) => arrived.has(id));
  });
  const told = program.log.find(({ msg }) => msg === "a worker has ended: it is started again");
  assert.deepEqual([told?.["worker"], told?.["pid"], told?.["signal"]], [2, before, "SIGKILL"]);
  await until(async () => (await running(program)).includes(pidOf(program, 2)));
  assert.equal(await program.end("SIGTERM"), 0, program.complaint());
});

test("SIGTERM stops all workers in order, and an attempt in flight is recorded", async (t) => {
  const rig = await aRig(t);
  const program = await startWorkers(t, { ...rig, WORKERS: "2", DRAIN: "1s" });
  const { partner, answer } = await anAttemptInFlight(t, program);
  const ended = program.end("SIGTERM");
  for (const url of [program.partnerUrl, program.operatorUrl]) {
    await until(async () => (await readyz(url)).status === 503);
    assert.deepEqual((await readyz(url)).checks, [{ name: "stopping", ok: false }]);
  }
  assert.equal((await partner.ask("/me")).status, 200);
  answer();
  assert.equal(await ended, 0, program.complaint());
  const stopped = program.log.filter(({ msg }) => msg === "stopped").map((line) => line["worker"]);
  assert.deepEqual(stopped.slice(0, 2).toSorted(), [1, 2]);
  assert.deepEqual(stopped.slice(2), [undefined], "the parent is the last");
  const [failure] = await openPool(t, rig["DATABASE_URL"] ?? "")`select http_status from attempts`;
  assert.equal(failure?.["http_status"], 503);
});

test("what hinders the start is told once, and no worker remains", async (t) => {
  const rig = await aRig(t);
  const serve = (further: Record<string, string>) =>
    runProgram(["serve"], {
      ...{ ...rig, ADMIN_TOKEN, PORT: "0", OPERATOR_PORT: "0", WORKERS: "3" },
      ...further,
    });
  const inWorker = await serve({ EGRESS_CA_FILE: "/nowhere.pem" });
  assert.equal(inWorker.status, 1);
  assert.match(inWorker.stderr, /^error: EGRESS_CA_FILE cannot be read: .*\n$/);

  const inParent = await serve({ WORKERS: "200" });
  assert.equal(inParent.status, 1);
  assert.match(
    inParent.stderr,
    /^error: WORKERS: the database permits \d+ connections, and 200 workers open up to 2200, 11 each: set WORKERS to \d+, or raise max_connections or the role's or database's limit\n$/,
  );
});
