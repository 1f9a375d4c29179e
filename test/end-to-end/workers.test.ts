import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openPool } from "../support/database.ts";
import {
  ADMIN_TOKEN,
  type Program,
  run,
  runProgram,
  type Served,
  startProgram,
} from "../support/program.ts";
import { rawRequest } from "../support/raw-http.ts";
import { eventIdOf } from "../support/receiver.ts";
import { aRig, aSubscriber, call } from "../support/rig.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

interface Readiness {
  status: number;
  checks: { name: string; ok: boolean; detail?: string }[];
}

interface Listed {
  pid: number;
  state: string;
}

/** The processes that run now, as operators see them. */
async function running({ operatorUrl }: Served): Promise<number[]> {
  const { body } = await call(`${operatorUrl}/api/v1/admin/processes`, { token: ADMIN_TOKEN });
  const items = body["items"] as Listed[];
  return items.filter(({ state }) => state === "running").map(({ pid }) => pid);
}

function pidOf(program: Program, worker: number): number {
  const line = program.log.findLast(
    (one) => one["worker"] === worker && one["msg"] === "worker ready",
  );
  return Number(line?.["pid"]);
}

/** Resolves when the log has told the pids of all workers. */
async function startWorkers(t: TestContext, rig: Record<string, string>): Promise<Program> {
  const program = await startProgram(t, rig);
  const numbers = Array.from({ length: Number(rig["WORKERS"]) }, (_, i) => i + 1);
  await until(() => numbers.every((worker) => pidOf(program, worker) > 0));
  return program;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

/** Over a connection of its own, as a probe. It gets no answer if a worker hangs that the connection was given to. */
async function readyz(url: string): Promise<Readiness> {
  const signal = AbortSignal.timeout(5_000);
  const answer = await fetch(`${url}/readyz`, { headers: { connection: "close" }, signal });
  const { checks } = (await answer.json()) as Pick<Readiness, "checks">;
  return { status: answer.status, checks };
}

/** The value of a metric, summed over its labels. */
async function metric({ operatorUrl }: Served, name: string): Promise<number> {
  const answer = await fetch(`${operatorUrl}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const lines = (await answer.text()).split("\n").filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

async function childrenOf(pid: number | undefined): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(
    pids.map(async (name) => {
      const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    }),
  );
  return pids.filter((_, i) => parents[i] === pid).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

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
  const { receiver, partner, subscription } = await aSubscriber(t, program);
  let answer: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    receiver.answer(({ response }) => {
      answer = () => response.writeHead(503).end();
      resolve();
    });
  });
  await partner.ping(subscription);
  await asked;
  const pids = [1, 2].map((worker) => pidOf(program, worker));
  const ended = program.end("SIGKILL"); // Resolves when the workers have closed the log, too.
  await sleep(200);
  answer();
  assert.equal(await ended, "SIGKILL");
  await until(() => !pids.some(isAlive));
  assert.equal(program.log.filter(({ msg }) => msg === "stopped").length, 2);
  assert.equal(program.complaint(), "");
});

test("SIGTERM stops all workers in order, and an attempt in flight is recorded", async (t) => {
  const rig = await aRig(t);
  const program = await startWorkers(t, { ...rig, WORKERS: "2", DRAIN: "1s" });
  const { receiver, partner, subscription } = await aSubscriber(t, program);
  let answer: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    receiver.answer(({ response }) => {
      answer = () => response.writeHead(503).end();
      resolve();
    });
  });
  await partner.ping(subscription);
  await asked;
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
    /^error: WORKERS: the database permits \d+ connections, and 200 workers open up to 2200, 11 each: set WORKERS to \d+, or raise max_connections\n$/,
  );
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
