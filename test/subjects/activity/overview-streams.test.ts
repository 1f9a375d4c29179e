import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { writeActivity } from "../../../src/jobs/activity.ts";
import type { Database } from "../../../src/postgres/database.ts";
import { OverviewStreams } from "../../../src/subjects/activity/overview-streams.ts";
import { type Overview, OverviewReader } from "../../../src/subjects/activity/overview.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { recordProcess } from "../../../src/subjects/processes/sql.ts";
import { column } from "../../support/columns.ts";
import { aCountedEngine, identity, REPORT } from "../../support/counted-engine.ts";
import { createDatabase, openPool } from "../../support/database.ts";
import { OPERATORS, READER, startOperatorApi } from "../../support/operator-api.ts";

const db = await createDatabase();
const always = () => Promise.resolve(true);
const anOverview = (status: Overview["status"]) => ({ status }) as Overview;
const forThatTick = () => new Promise((resolve) => setImmediate(resolve));

/** Streams of an overview that the test sets, tick by tick. */
function aBroadcast(connectionsMax = 20_000) {
  const now = { status: "ok" as Overview["status"], reads: 0 };
  const streams = new OverviewStreams(
    {
      read: () => {
        now.reads++;
        return Promise.resolve(anOverview(now.status));
      },
      readOutage: () => Promise.resolve(anOverview("down")),
    },
    connectionsMax,
  );
  return { now, streams };
}

/** The events of a stream, as they arrive. */
function reading(streams: OverviewStreams, mayContinue = always) {
  const stream = streams.open(mayContinue);
  assert.ok(stream);
  const events: string[] = [];
  stream.on("data", (bytes: Buffer) => events.push(bytes.toString()));
  return { stream, events, ended: once(stream, "end") };
}

const event = (status: string) => `event: overview\ndata: {"status":"${status}"}\n\n`;

test("a stream starts at once, continues every second tick, and sends a change of status in between", async () => {
  const { now, streams } = aBroadcast();
  const { stream, events } = reading(streams);
  await forThatTick();
  assert.deepEqual(events, [event("ok")]);
  const tick = async () => {
    await streams.tick();
    await forThatTick();
    return events.length;
  };
  assert.deepEqual([await tick(), await tick(), await tick(), await tick()], [1, 2, 2, 3]);
  now.status = "down";
  assert.equal(await tick(), 4);
  assert.equal(events.at(-1), event("down"));
  stream.destroy();
});

test("one computation serves all streams", async () => {
  const { now, streams } = aBroadcast();
  const all = Array.from({ length: 10 }, () => reading(streams));
  await forThatTick();
  const before = now.reads;
  await streams.tick();
  await streams.tick();
  await forThatTick();
  assert.equal(now.reads - before, 2);
  for (const { events, stream } of all) {
    assert.equal(events.length, 2);
    stream.destroy();
  }
});

test("the number of streams is bounded, and a closed stream frees its place", async () => {
  const { streams } = aBroadcast(4);
  const open = (operator: string) => streams.open(always, { operator });
  const [first, second] = [open("alice"), open("rita")];
  assert.ok(first && second);
  assert.equal(open("bob"), null);
  first.destroy();
  await once(first, "close");
  assert.equal(open("rita"), null, "one operator leaves half of them to others");
  assert.ok(open("bob"));
  streams.close();
  assert.equal(open("alice"), null, "nothing is opened while the process stops");
});

test("a stream ends within five ticks after its session, and others continue", async () => {
  const { streams } = aBroadcast();
  const session = { isOver: false };
  const ending = reading(streams, () => Promise.resolve(!session.isOver));
  const unsure = reading(streams, () => Promise.reject(new Error("the database is away")));
  for (let i = 0; i < 5; i++) await streams.tick();
  assert.equal(streams.size, 2);
  session.isOver = true;
  for (let i = 0; i < 5; i++) await streams.tick();
  await ending.ended;
  assert.equal(streams.size, 1);
  unsure.stream.destroy();
});

test("a client that does not read gets no more events and is then disconnected", async () => {
  const { streams } = aBroadcast();
  const stream = streams.open(always);
  assert.ok(stream);
  const ticks = (4 * stream.readableHighWaterMark) / event("ok").length;
  for (let i = 0; i < ticks && streams.size > 0; i++) {
    await streams.tick();
    await forThatTick();
  }
  assert.ok(stream.readableLength <= stream.readableHighWaterMark + event("ok").length);
  assert.equal(streams.size, 0);
  assert.ok(stream.destroyed);
});

test("over HTTP a stream sends events in the overview's shape until the process stops", async (t) => {
  const { deps, clock } = await aCountedEngine(db);
  await recordProcess(db, { ...identity, startedAt: clock() }, REPORT, clock());
  const { app, ask } = startOperatorApi(t, deps);
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const response = await fetch(`${base}/api/v1/admin/overview/live`, {
    headers: { authorization: `Bearer ${OPERATORS[0]?.token ?? ""}` },
  });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.equal(response.headers.get("cache-control"), "no-store");
  assert.ok(response.body);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  const [, data = ""] = /^event: overview\ndata: (.*)\n\n$/.exec(value) ?? [];
  assert.deepEqual(JSON.parse(data), (await ask({ url: "overview" })).body);

  await app.close(); // Does not wait for the stream, and ends it.
  for (;;) if ((await reader.read()).done) break;
});

test("a small listener that is full of streams still answers that it is ready", async (t) => {
  const { deps, clock } = await aCountedEngine(db);
  await recordProcess(db, { ...identity, id: randomUUID(), startedAt: clock() }, REPORT, clock());
  const { app } = startOperatorApi(t, deps, { maxConnections: 4 });
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const answers: Response[] = [];
  for (const { token } of [...OPERATORS, READER, ...OPERATORS]) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${base}/api/v1/admin/overview/live`, { headers });
    answers.push(answer);
    if (answer.status !== 200) await answer.text();
  }
  assert.deepEqual(column(answers, "status"), [200, 200, 503, 503, 503]);
  assert.equal((await fetch(`${base}/readyz`)).status, 200);
});

test("requests within a second share one overview", async () => {
  const { deps } = await aCountedEngine(db);
  const time = { ms: 0 };
  let asked = 0;
  const counting = () => {
    asked++;
    return Promise.resolve([]);
  };
  const reader = new OverviewReader({ ...deps, ownProblems: counting }, () => time.ms);
  const [first, second] = await Promise.all([reader.read(), reader.read()]);
  assert.equal(first, second);
  time.ms = 999;
  await reader.read();
  assert.equal(asked, 1);
  time.ms = 1_000;
  await reader.read();
  assert.equal(asked, 2);
});

test("trends that take too long are no outage, and the last ones stay", async (t) => {
  const { deps } = await aCountedEngine(db);
  const { id } = await createOrganization(deps, { slug: `trends-${randomUUID()}` });
  deps.activity.notePublished(id, []);
  await writeActivity(deps.db, deps.activity, randomUUID());
  const overdue = openPool(t, "postgres://127.0.0.1:1/overdue");
  const time = { ms: 0 };
  const asked: number[] = [];
  const slow = {
    within: (ms: number) => (asked.push(ms) === 3 ? overdue : deps.db).within(ms),
  } as Database;
  const reader = new OverviewReader({ ...deps, db: slow }, () => time.ms);
  const { last_24h: complete } = await reader.read();
  assert.ok(Number(complete.published) > 0);

  time.ms = 60_000;
  const { now, last_24h: last } = await reader.read();
  assert.deepEqual(last, complete);
  assert.equal(now.attempts_under_way, 0, "the rest is known");
  assert.equal(asked.length, 4, "the trends were read twice");
});

test("a session that is signed out or expired ends its stream", async (t) => {
  const { setInterval } = globalThis;
  t.mock.method(globalThis, "setInterval", (work: () => void, ms?: number) =>
    setInterval(work, ms === 1_000 ? 10 : ms),
  ); // So that a tick takes no second.
  const { deps, clock } = await aCountedEngine(db);
  await recordProcess(db, { ...identity, id: randomUUID(), startedAt: clock() }, REPORT, clock());
  const { app, ask } = startOperatorApi(t, deps);
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const open = async () => {
    const { headers } = await ask({
      method: "POST",
      url: "session",
      authorization: null,
      body: { token: OPERATORS[0]?.token },
    });
    const [cookie = ""] = String(headers["set-cookie"]).split(";");
    const { status, body } = await fetch(`${base}/api/v1/admin/overview/live`, {
      headers: { cookie },
    });
    assert.equal(status, 200);
    assert.ok(body);
    return { cookie, body };
  };
  const signedOut = await open();
  await fetch(`${base}/api/v1/admin/session`, {
    method: "DELETE",
    headers: { cookie: signedOut.cookie, "x-requested-with": "console" },
  });
  await text(signedOut.body);

  const over = await open();
  clock.advance(12 * 3_600_000);
  await text(over.body);
});

test("a stream whose session the database cannot check shows no stored data until it can", async () => {
  const { streams } = aBroadcast();
  let check = () => Promise.reject<boolean>(new Error("overloaded"));
  const { stream, events } = reading(streams, () => check());
  const ticks = async () => {
    for (let tick = 0; tick < 6; tick++) {
      await streams.tick();
      await forThatTick();
    }
  };
  await ticks();
  assert.equal(events.at(-1), event("down"));
  check = () => Promise.resolve(true);
  await ticks();
  assert.equal(events.at(-1), event("ok"));
  stream.destroy();
});
