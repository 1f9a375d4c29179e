import assert from "node:assert/strict";
import { test } from "node:test";
import { PartnerError } from "../../../src/domain/errors.ts";
import { OperatorTurns } from "../../../src/http/operator/operator-turns.ts";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { OPERATORS, READER, startOperatorApi } from "../../support/operator-api.ts";

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
  for (let i = 0; i < 52; i++) void request("a");
  await assert.rejects(request("a"), PartnerError);
  void request("b");
  assert.deepEqual(begun, ["a", "a", "b"]);
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
