import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Lanes, type Pending } from "../../src/bridge/lanes.ts";
import { BridgeMetrics } from "../../src/bridge/metrics.ts";
import { createPublisher, type Publisher } from "../../src/bridge/publisher.ts";
import { Pump } from "../../src/bridge/pump.ts";
import type { Message, Source, SourceContext } from "../../src/bridge/source.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { aFakeService } from "../support/bridge.ts";

test("a batch that is too large for a proxy is split, and a message that is too large by itself holds its lane", async (t) => {
  const published: number[] = [];
  const { url, until } = await aFakeService(t, ({ events }) => {
    const numbers = events.map(numberOf);
    if (events.length > 3 || numbers.includes(17)) return { status: 413 };
    published.push(...numbers);
    return { status: 202 };
  });
  const messages = Array.from({ length: 20 }, (_, n) => aMessage(n));
  const publisher = createPublisher({ url, token: "t", userAgent: "test" });
  const { log } = aPump(t, { messages, publisher });
  await until((asked) => asked.filter(({ events }) => events.length === 1).length > 2);
  assert.deepEqual(
    published,
    Array.from({ length: 17 }, (_, n) => n),
  );
  assert.deepEqual(
    log.filter((line) => line === "set aside"),
    [],
  );
});

test("a lane that has failed has its turn, however much others have to publish", () => {
  const lanes = new Lanes();
  const failed = aPending(0, "failed");
  lanes.add(failed);
  lanes.hold([failed], () => 5);
  const turns = Array.from({ length: 2 }, (_, n) => {
    lanes.add(aPending(n, `sound ${n}`));
    return lanes.begin(10, { max: 500, bytesMax: 1_000 }).map(({ message }) => message.lane);
  });
  assert.deepEqual(turns, [["sound 0"], ["failed"]]);
});

test("what cannot be acknowledged is a problem for as long as it lasts, while further messages are received", async (t) => {
  let refusals = 0;
  const { pump, source, until } = aPump(t, {
    messages: [aMessage(1)],
    acknowledge: () => {
      if (refusals < 0) return Promise.resolve();
      refusals++;
      return Promise.reject(new Error("no right to update"));
    },
  });
  await until(() => refusals > 3);
  const received = source.receipts;
  await until(() => source.receipts > received + 3);
  assert.equal(pump.problem, "no right to update");
  refusals = -1;
  await until(() => pump.problem === null);
});

test("a lane goes on before its acknowledgement, of which one is under way, and no more is held than fits", async (t) => {
  const acknowledged: number[] = [];
  const answering = new EventEmitter();
  let isSlow = true;
  const { pump, published, until } = aPump(t, {
    messages: Array.from({ length: 1_600 }, (_, n) => aMessage(n)),
    acknowledge: async (batch) => {
      acknowledged.push(batch.length);
      if (isSlow) await once(answering, "answer");
    },
  });
  await until(() => published.length >= 1_000);
  assert.equal(acknowledged.length, 1);
  assert.equal(pump.held, 1_000);
  isSlow = false;
  answering.emit("answer");
  await until(() => pump.held === 0 && published.length === 1_600);
  assert.equal(acknowledged[1], 1_000 - (acknowledged[0] ?? 0));
  assert.deepEqual(published, Array.from(published.keys()));
});

test("the lag is asked for once at a time, or questions that are slow would pile up", async (t) => {
  let questions = 0;
  const answering = new EventEmitter();
  const { pump } = aPump(t, {
    messages: [],
    lag: async () => {
      questions++;
      await once(answering, "answer");
      return { messages: 7 };
    },
  });
  const asked = [pump.lag(), pump.lag(), pump.lag()];
  assert.equal(questions, 1);
  answering.emit("answer");
  assert.deepEqual(await Promise.all(asked), [{ messages: 7 }, { messages: 7 }, { messages: 7 }]);
  void pump.lag();
  assert.equal(questions, 2);
  answering.emit("answer");
});

test("what another consumer has now is forgotten also while a message before it is set aside", async (t) => {
  const events = new EventEmitter();
  const { published, source, until } = aPump(t, {
    messages: [aMessage(0)],
    publish: async () => {
      if (events.emit("sent")) await once(events, "answered");
    },
    setAside: async () => {
      events.emit("begun");
      await once(events, "done");
      return true;
    },
  });
  await once(events, "sent"); // Until its answer, the lane waits.
  source.messages.push(aMessage(1, "no JSON"), aMessage(2));
  await once(events, "begun");
  source.context?.forget(() => true);
  events.emit("done");
  source.messages.push(aMessage(3));
  events.emit("answered");
  await until(() => published.includes(3));
  assert.deepEqual(published, [0, 3]);
});

test("a message that comes again, because it could not be set aside, is not counted", async (t) => {
  let isLost = true;
  const { pump, source, log, until } = aPump(t, {
    messages: [aMessage(1, "no JSON")],
    setAside: () => Promise.resolve(!isLost),
  });
  await until(() => source.receipts > 3);
  assert.deepEqual([pump.totals.set_aside, log], [0, []]);
  isLost = false;
  source.messages.push(aMessage(1, "no JSON"));
  await until(() => pump.totals.set_aside === 1);
  assert.deepEqual(log, ["set aside"]);
});

function aMessage(n: number, body = `{"n":${n}}`): Message {
  return { lane: "a", identity: String(n), body, headers: new Map(), from: {} };
}

function aPending(n: number, lane: string): Pending<Message> {
  return { message: { ...aMessage(n), lane }, event: { json: "{}", bytes: 2, traceparent: null } };
}

function numberOf({ data }: { data?: unknown }): number {
  return (data as { n: number }).n;
}

interface Parts extends Partial<Pick<Source, "acknowledge" | "setAside" | "lag">> {
  messages: Message[];
  publisher?: Publisher;
  publish?: () => Promise<unknown>;
}

/** A pump that runs until the test ends, on a source of these messages. */
function aPump(t: TestContext, { messages, publisher, publish, ...own }: Parts) {
  const [log, published]: [string[], number[]] = [[], []];
  const state = { messages, receipts: 0, context: null as SourceContext | null };
  const source: Source = {
    receive: async (max) => {
      await sleep(1);
      state.receipts++;
      return state.messages.splice(0, max);
    },
    acknowledge: () => Promise.resolve(),
    setAside: () => Promise.resolve(true),
    lag: () => Promise.resolve(null),
    check: () => Promise.reject(new Error("not checked")),
    close: () => Promise.resolve(),
    ...own,
  };
  const note = (_facts: object, message: string) => void log.push(message);
  const pump = new Pump({
    open: (context) => {
      state.context = context;
      return source;
    },
    becoming: { source: "orders", mapping: MAPPING, defaults: {} },
    publisher: publisher ?? {
      publish: async (events) => {
        await publish?.();
        published.push(...events.map(({ json }) => numberOf(JSON.parse(json) as object)));
        return { kind: "published", duplicates: 0 };
      },
      reach: () => Promise.resolve(null),
      report: () => Promise.resolve(),
    },
    metrics: new BridgeMetrics().of("orders", systemClock),
    log: { info: () => undefined, warn: note, error: note },
    now: systemClock,
    delays: { firstMs: 5, maxMs: 20 },
  });
  pump.start();
  t.after(() => pump.stop());
  const until = async (holds: () => boolean) => {
    while (!holds()) await sleep(1, null, { signal: t.signal });
  };
  return { pump, source: state, log, published, until };
}

const MAPPING = {
  organization: { constant: '"acme"' },
  type: { constant: '"order.created"' },
  data: { pointer: [] },
};
