import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { PartnerError } from "../../../src/lib/errors.ts";
import { OperatorTurns } from "../../../src/subjects/operators/turns.ts";
import { columns } from "../../support/columns.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { OPERATORS, READER, startOperatorApi } from "../../support/operator-api.ts";
import { aClient } from "../../support/raw-http.ts";

/** Requests that end when the test calls them. */
function held() {
  const turns = new OperatorTurns();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const request = (operator: string) =>
    turns.run(operator, () => {
      begun.push(operator);
      return new Promise<void>((end) => ends.push(end));
    });
  return { request, begun, endFirst: () => ends.shift()?.() };
}

const inAMoment = () => new Promise((resolve) => setImmediate(resolve));

test("at most three requests run at a time, and two of one operator", async () => {
  const { request, begun, endFirst } = held();
  const all = ["a", "a", "a", "b", "b"].map(request);
  assert.deepEqual(begun, ["a", "a", "b"]);
  endFirst();
  await inAMoment();
  assert.deepEqual(begun, ["a", "a", "b", "a"]);
  for (let i = 0; i < 4; i++) {
    endFirst();
    await inAMoment();
  }
  await Promise.all(all);
  assert.deepEqual(begun, ["a", "a", "b", "a", "b"]);
});

test("a bounded number of one operator's requests waits, and others are served", async () => {
  const { request, begun } = held();
  for (let i = 0; i < 1_002; i++) void request("a");
  await assert.rejects(request("a"), PartnerError);
  void request("b");
  assert.deepEqual(begun, ["a", "a", "b"]);
});

test("a request that has had its turn makes room for another one that waits", async () => {
  const { request, endFirst } = held();
  for (let i = 0; i < 1_002; i++) void request("a");
  endFirst();
  await inAMoment();
  await Promise.race([request("a"), inAMoment()]);
});

test("operators take turns, however many requests of one wait", async () => {
  const { request, begun, endFirst } = held();
  for (let i = 0; i < 900; i++) void request("a");
  void request("b");
  void request("b");
  for (let i = 0; i < 4; i++) {
    endFirst();
    await inAMoment();
  }
  assert.deepEqual(begun, ["a", "a", "b", "a", "b", "a", "a"]);
});

test("a thousand organizations are created at once with one token, and one more request is told to try again", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] }); // On a busy machine they take longer than an answer may.
  const db = await createDatabase();
  const { deps } = await createEngine(db);
  const { ask } = startOperatorApi(t, deps);
  const create = (_: unknown, i: number) =>
    ask({ method: "POST", url: "organizations", body: { slug: `provisioned-${i}` } });
  const answers = await Promise.all(Array.from({ length: 1_003 }, create));
  const refused = answers.filter(({ status }) => status !== 201);
  assert.deepEqual(columns(refused, "status"), [[503]]);
  assert.equal(refused[0]?.headers["retry-after"], "5");
  const [{ made }] = await db<[{ made: number }]>`select count(*)::int as made from organizations`;
  assert.equal(made, 1_002);
});

test("a request whose client goes away while it waits does nothing", async (t) => {
  const db = await createDatabase();
  const { deps } = await createEngine(db);
  const { app } = startOperatorApi(t, deps);
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const create = async (slug: string) => {
    const arrived = once(app.server, "request");
    const client = aClient(t, base);
    const body = JSON.stringify({ slug });
    client.write(
      `POST /api/v1/admin/organizations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OPERATORS[0]?.token ?? ""}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const [request] = (await arrived) as [IncomingMessage];
    if (!request.readableEnded) await once(request, "end");
    return { client, request };
  };
  const owner = ownerOf(db);
  await owner.begin(async (tx) => {
    await tx`lock table organizations`;
    for (const slug of ["first", "second"]) await create(slug);
    const { client, request } = await create("third");
    const closed = once(request.socket, "close");
    client.destroy();
    await closed;
  });
  await app.close();
  const made = await db<{ slug: string }[]>`select slug from organizations order by slug`;
  assert.deepEqual(columns(made, "slug"), [["first"], ["second"]]);
});

test("searches of a token use two connections of the database, and leave the others to partners", async (t) => {
  const db = await createDatabase();
  const { deps } = await createEngine(db);
  let [running, most] = [0, 0];
  let letGo: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  const slow = Object.assign((...args: Parameters<typeof db>) => {
    const [texts] = args as unknown as [unknown];
    if (!Array.isArray(texts) || !texts.join("").includes("from api_keys")) return db(...args);
    most = Math.max(most, ++running);
    return gone.then(() => db(...args)).finally(() => running--);
  }, db);
  const { ask } = startOperatorApi(t, { ...deps, db: slow });
  const as = (token: string) => ({ url: "keys", authorization: `Bearer ${token}` });
  const searches = Array.from({ length: 10 }, () => ask(as(READER.token)));
  while (running < 2) await inAMoment();
  assert.equal((await ask({ url: "overview" })).status, 200);
  const other = ask(as(OPERATORS[0]?.token ?? ""));
  while (running < 3) await inAMoment();
  letGo();
  for (const { status } of await Promise.all([...searches, other])) assert.equal(status, 200);
  assert.equal(most, 3);
});
