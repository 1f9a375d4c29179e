import assert from "node:assert/strict";
import { test } from "node:test";
import { compileTypes } from "../../src/event-types/compile.ts";
import { Judge } from "../../src/listen/judge.ts";
import type { Behaviour, Received } from "../../src/listen/receiver.ts";
import { createEventTypes } from "../../src/subjects/event-types/rules.ts";
import { signatureHeaders } from "../../src/webhook/sign.ts";

const SECRET = "whsec_c2VjcmV0";
const ALWAYS_204: Behaviour = { status: 204, delayMs: 0, attempts: Infinity };

function aDelivery({ id = "evt_1", subscription_id = "wh_1" } = {}): Received {
  const event = { event: "vc.test.ping", id, subscription_id, occurred_at: "now", data: {} };
  return received(Buffer.from(JSON.stringify(event)));
}

function received(body: Buffer): Received {
  const signed = { signingSecret: SECRET, eventId: "evt_1", timestampMs: Date.now(), body };
  const headers = Object.entries(signatureHeaders(signed)).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  return {
    method: "POST",
    path: "/hooks",
    headers: Object.fromEntries(headers),
    rawHeaders: headers.flat(),
    body,
  };
}

const judgeWith = (secrets: string[], behaviour = ALWAYS_204) => {
  const judge = new Judge(secrets, behaviour);
  return (delivery: Received) => judge.judge(delivery, new Date());
};

test("with the platform's types, invalid data is shown with its pointer", async () => {
  const schema = { type: "object", properties: { total: { type: "integer" } } };
  const definition = { name: "order.created", summary: "An order", schema, example: {} };
  const eventTypes = createEventTypes(await compileTypes([definition], []));
  const judge = new Judge([], ALWAYS_204, eventTypes);
  const faultsOf = async (event: string, data: object) => {
    const body = Buffer.from(JSON.stringify({ event, data }));
    const received = { method: "POST", path: "/", headers: {}, rawHeaders: [], body };
    return (await judge.judge(received, new Date(0))).dataFaults;
  };
  assert.deepEqual(await faultsOf("order.created", { total: 1 }), []);
  assert.deepEqual(await faultsOf("order.created", { total: "1" }), [
    "data/total must be an integer",
  ]);
  assert.deepEqual(await faultsOf("order.lost", {}), [
    "no file in EVENT_TYPES describes this type",
  ]);
});

test("any of the secrets may have signed, other signatures are forged, and without secrets nothing is verified", async () => {
  for (const [secrets, verdict] of [
    [[SECRET], "valid"],
    [["whsec_old", SECRET], "valid"],
    [["whsec_old"], "forged"],
    [[], "unverified"],
  ] as const) {
    assert.equal((await judgeWith([...secrets])(aDelivery())).verdict, verdict);
  }
});

test("a learned secret verifies from then on, and the newest hundred are kept", async () => {
  const judge = new Judge([], ALWAYS_204);
  const verdict = async () => (await judge.judge(aDelivery(), new Date())).verdict;
  assert.equal(await verdict(), "unverified");
  assert.equal(judge.learn("whsec_other"), 1);
  assert.equal(await verdict(), "forged");
  assert.equal(judge.learn(SECRET), 2);
  assert.equal(judge.learn(SECRET), 2);
  assert.equal(await verdict(), "valid");
  for (let i = 0; i < 100; i++) assert.ok(judge.learn(`whsec_${i}`) <= 100);
  assert.equal(await verdict(), "forged");
});

test("an attempt has the sender's number, even if the first ones were missed", async () => {
  const judge = judgeWith([], { status: 500, delayMs: 0, attempts: 2 });
  const arrive = async (said: string) => {
    const delivery = aDelivery();
    delivery.headers["x-vc-attempt"] = said;
    const { attempt, reply } = await judge(delivery);
    return [attempt, reply.status];
  };
  assert.deepEqual(await arrive("2"), [2, 500]);
  assert.deepEqual(await arrive("3"), [3, 204]);
  assert.deepEqual(await arrive("1"), [1, 500]); // The numbers of a redelivery begin again.
  for (const nonsense of ["0", "-1", "1.5", "", "99999", "two"]) {
    assert.ok(Number((await arrive(nonsense))[0]) > 3, "counted");
  }
});

test("without a number attempts are counted for each event and subscription", async () => {
  const judge = judgeWith([]);
  const attempts = [];
  for (const delivery of [
    aDelivery(),
    aDelivery(),
    aDelivery({ id: "evt_2" }),
    aDelivery({ subscription_id: "wh_2" }),
    aDelivery(),
  ]) {
    attempts.push((await judge(delivery)).attempt);
  }
  assert.deepEqual(attempts, [1, 2, 1, 1, 3]);
});

test("the first attempts of each event fail and the rest are accepted", async () => {
  const judge = judgeWith([], { status: 500, delayMs: 7, attempts: 1 });
  for (const id of ["evt_1", "evt_2"]) {
    assert.deepEqual((await judge(aDelivery({ id }))).reply, { status: 500, delayMs: 7 });
    assert.deepEqual((await judge(aDelivery({ id }))).reply, { status: 204, delayMs: 0 });
  }
});

test("a body that is not an event is shown, too", async () => {
  const judge = judgeWith([SECRET]);
  for (const body of ["", "null", "[]", '"text"', "{", '{"event":1}', "\u{1f600}"]) {
    const { verdict, eventType, eventId } = await judge(received(Buffer.from(body)));
    assert.deepEqual(
      { verdict, eventType, eventId },
      {
        verdict: "malformed",
        eventType: null,
        eventId: null,
      },
    );
  }
});
