// Depends on: src
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ADMIN_TOKEN, type Program, run, startProgram } from "../support/program.ts";
import { rawRequest } from "../support/raw-http.ts";
import { aRig, aSubscriber } from "../support/rig.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import {
  anAttemptInFlight,
  childrenOf,
  isAlive,
  metric,
  pidOf,
  type Readiness,
  readyz,
  startWorkers,
  until,
} from "../support/workers.ts";

test("one worker is the process itself, without a child", async (t) => {
  const program = await startProgram(t, { ...(await aRig(t)), WORKERS: "1" });
  assert.deepEqual(await childrenOf(program.process.pid), []);
  assert.ok(program.log.every((line) => !("worker" in line) && !("workers" in line)));
  const { checks } = await readyz(program.operatorUrl);
  assert.deepEqual(
    checks.map(({ name }) => name),
    ["database", "clock"],
  );
});

test("metrics are summed over all workers, and no sum falls when a worker is killed", async (t) => {
  const program = await startWorkers(t, { ...(await aRig(t)), WORKERS: "2" });
  const { partner, subscription } = await aSubscriber(t, program);
  await Promise.all(Array.from({ length: 20 }, () => partner.ping(subscription)));
  const published = "partner_api_published_events_total";
  const answered =
    'partner_api_request_duration_seconds_count{method="POST",route="/api/v1/partner/webhooks/:id/test"';
  assert.equal(await metric(program, published), 20);
  assert.equal(await metric(program, answered), 20);
  for (const worker of [1, 2]) {
    assert.ok((await metric(program, `process_resident_memory_bytes{worker="${worker}"}`)) > 0);
    assert.equal(await metric(program, `partner_api_attempts_under_way{worker="${worker}"}`), 0);
  }

  const before = pidOf(program, 1);
  process.kill(before, "SIGKILL");
  await until(() => pidOf(program, 1) !== before);
  assert.equal(await metric(program, published), 20);
  assert.equal(await metric(program, answered), 20);
  await partner.ping(subscription);
  assert.equal(await metric(program, published), 21);
});

test("a connection that a killed worker had not taken is closed, and does not hang", async (t) => {
  const program = await startWorkers(t, { ...(await aRig(t)), WORKERS: "2" });
  const { ends } = await connectToFrozen(program);
  for (const worker of [1, 2]) process.kill(pidOf(program, worker), "SIGKILL");
  await ends;
});

test("workers that were given a connection when the parent was killed stop in order", async (t) => {
  const program = await startWorkers(t, { ...(await aRig(t)), WORKERS: "2" });
  await connectToFrozen(program);
  const ended = program.end("SIGKILL");
  await once(program.process, "exit");
  for (const worker of [1, 2]) process.kill(pidOf(program, worker), "SIGCONT");
  await ended;
  assert.deepEqual(
    program.log.filter(({ err }) => err !== undefined),
    [],
  );
  assert.equal(program.log.filter(({ msg }) => msg === "stopped").length, 2);
});

/** Freezes both workers, and gives each a connection. Resolves to the end of both connections. */
async function connectToFrozen(program: Program): Promise<{ ends: Promise<unknown> }> {
  for (const worker of [1, 2]) process.kill(pidOf(program, worker), "SIGSTOP");
  const { port, hostname } = new URL(program.partnerUrl);
  const clients = await Promise.all(
    [1, 2].map(async () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(rawRequest("GET /healthz HTTP/1.1", ["Host: localhost"]));
      return socket;
    }),
  );
  const ends = clients.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
  await sleep(300); // The parent hands them out.
  return { ends: Promise.all(ends) };
}

test("a worker that does not answer makes the whole unready, until it does", async (t) => {
  const program = await startWorkers(t, { ...(await aRig(t)), WORKERS: "2" });
  process.kill(pidOf(program, 1), "SIGSTOP");
  for (const url of [program.partnerUrl, program.operatorUrl]) {
    let answer: Readiness | null = null;
    while (answer?.status !== 503) answer = await readyz(url).catch(() => null);
    const told = answer.checks.find(({ name }) => name === "workers");
    assert.deepEqual([told?.ok, told?.detail], [false, "1 of 2 do not answer"]);
  }
  process.kill(pidOf(program, 1), "SIGCONT");
  await until(async () => (await readyz(program.partnerUrl)).status === 200);
});

test("if the parent is killed, its workers finish what is in flight, and end", async (t) => {
  const program = await startWorkers(t, { ...(await aRig(t)), WORKERS: "2" });
  const { answer } = await anAttemptInFlight(t, program);
  const pids = [1, 2].map((worker) => pidOf(program, worker));
  const ended = program.end("SIGKILL"); // Resolves when the workers have closed the log, too.
  await sleep(200);
  answer();
  assert.equal(await ended, "SIGKILL");
  await until(() => !pids.some(isAlive));
  assert.equal(program.log.filter(({ msg }) => msg === "stopped").length, 2);
  assert.equal(program.complaint(), "");
});

test("a worker that is told to stop by itself is replaced, and the whole stays ready", async (t) => {
  const program = await startWorkers(t, { ...(await aRig(t)), WORKERS: "2", DRAIN: "500ms" });
  const before = pidOf(program, 1);
  process.kill(before, "SIGTERM");
  process.kill(before, "SIGINT"); // Has no effect: a terminal sends it to the parent, too.
  const statuses = new Set<number>();
  await until(async () => {
    statuses.add((await readyz(program.partnerUrl)).status);
    return pidOf(program, 1) !== before;
  });
  assert.deepEqual([...statuses], [200]);
  assert.equal(await program.end("SIGINT"), 0, program.complaint());
});

test("the workers share one built-in database, which stops with the last of them", async (t) => {
  const folder = await aTemporaryFolder(t);
  const program = await startWorkers(t, { DATA_DIR: folder, WORKERS: "2" });
  const pids = [1, 2].map((worker) => pidOf(program, worker));
  const children = await childrenOf(program.process.pid);
  assert.equal(children.length, 3, "the workers and one keeper");
  for (const pid of pids) assert.deepEqual(await childrenOf(pid), []);
  assert.equal((await readyz(program.partnerUrl)).status, 200);
  assert.equal(await program.end("SIGTERM"), 0, program.complaint());
  assert.ok(!children.some(isAlive));
});

test("a stop during the start ends the workers that had begun", async (t) => {
  const rig = await aRig(t);
  const child = run(["serve"], {
    ...rig,
    ADMIN_TOKEN,
    PORT: "0",
    OPERATOR_PORT: "0",
    WORKERS: "2",
  });
  t.after(() => child.kill("SIGKILL"));
  await until(async () => (await childrenOf(child.pid)).length > 0);
  const [worker = 0] = await childrenOf(child.pid);
  child.kill("SIGTERM");
  const [status] = (await once(child, "close")) as [number | null];
  assert.equal(status, 0);
  assert.ok(!isAlive(worker));
});
