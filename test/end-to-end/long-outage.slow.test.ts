// Depends on: src

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../src/postgres/database.ts";
import { aGate } from "../support/database-gate.ts";
import { type Program, startProgram } from "../support/program.ts";
import { eventIdOf } from "../support/receiver.ts";
import { status as statusOnly } from "../support/receiver-scripts.ts";
import { aRig, aSubscriber } from "../support/rig.ts";

/** Longer than a request waits for the database, so that one that waits for it shows. */
const OUTAGE_MS = 15_000;
/** The outage has parts, so that callers who wait for a part of it show. */
const PARTS = 6;
const BEFORE = 0;
const AFTER = PARTS + 1;

const CALLERS = 8;
const PAUSE_MS = 20;
/**
 * The least number of refusals of each caller in each part. A caller that waits only for the next connection
 * has several times as many.
 */
const REFUSED_MIN = 3;
/** The number of deliveries after which the program has all the memory for this load. */
const WARM = 1_500;
/** The events that are accepted and not delivered when the outage begins. */
const BACKLOG = 200;
/** The events of each caller that are accepted afterwards. */
const ACCEPTED_AFTER = 25;

interface Answer {
  caller: number;
  /** `BEFORE`, `AFTER`, or the part of the outage. */
  asked: number;
  answered: number;
  status: number;
  retryAfter: string;
  event: unknown;
}

test(
  "a long time without a database causes only refused requests",
  { timeout: 120_000 },
  async (t) => {
    const rig = await aRig(t);
    const gate = await aGate(t, connect(rig["DATABASE_URL"] ?? "", { max: 1, name: "test" }));
    const program = await startProgram(t, { ...rig, DATABASE_URL: gate.url });
    const { receiver, partner, subscription } = await aSubscriber(t, program, {
      rateLimitPerMinute: 1_000_000,
    });

    const answers: Answer[] = [];
    const answersWith = (wanted: number) => answers.filter(({ status }) => status === wanted);
    let now = BEFORE;
    let isOver = false;
    t.after(() => (isOver = true));
    const calling = Promise.all(Array.from({ length: CALLERS }, (_, caller) => ping(caller)));
    while (receiver.requests.length < WARM) await sleep(PAUSE_MS);

    const held: ServerResponse[] = [];
    receiver.answer(({ response }) => held.push(response));
    while (answersWith(200).length < receiver.requests.length + BACKLOG) await sleep(PAUSE_MS);
    const before = await readMetrics(program);
    await gate.close();
    receiver.answer(statusOnly(200));
    for (const response of held) response.end();
    for (now = 1; now <= PARTS; now++) await sleep(OUTAGE_MS / PARTS);
    const stillAway = await readMetrics(program);
    await gate.open();
    await calling;

    assert.deepEqual(statusesOf(answers), [200, 503]);
    const meanwhile = answers.filter(({ asked, answered }) => asked > BEFORE && answered < AFTER);
    assert.deepEqual(statusesOf(meanwhile), [503]);
    for (let caller = 0; caller < CALLERS; caller++) {
      for (let part = 1; part <= PARTS; part++) {
        const mine = meanwhile.filter((one) => one.caller === caller && one.answered === part);
        const what = `${mine.length} refusals of caller ${caller} in part ${part} of the outage`;
        assert.ok(mine.length >= REFUSED_MIN, what);
      }
    }
    for (const { retryAfter } of answersWith(503)) assert.match(retryAfter, /^[1-9][0-9]*$/);
    const growth = `${before.memory} bytes became ${stillAway.memory}`;
    assert.ok(stillAway.memory < 1.5 * before.memory, growth);

    const missing = new Set(answersWith(200).map(({ event }) => event));
    while (missing.size > 0) {
      missing.delete(eventIdOf(await receiver.next()));
    }
    const told = () =>
      program.log
        .filter(({ level, msg }) => Number(level) >= 50 || String(msg).includes("the database"))
        .map(({ msg }) => msg);
    while (!told().includes("the database is available again")) await sleep(PAUSE_MS);
    assert.deepEqual(told(), [
      "the database is unavailable: deliveries wait and requests are refused",
      "the database is available again",
    ]);
    assert.equal((await readMetrics(program)).started, before.started);

    async function ping(caller: number): Promise<void> {
      let left = ACCEPTED_AFTER;
      while (left > 0 && !isOver) {
        const asked = now;
        const { status, headers, body } = await partner.ping(subscription);
        const retryAfter = headers.get("retry-after") ?? "";
        answers.push({ caller, asked, answered: now, status, retryAfter, event: body["event_id"] });
        if (asked === AFTER && status === 200) left--;
        await sleep(PAUSE_MS);
      }
    }
  },
);

function statusesOf(answers: Answer[]): number[] {
  return [...new Set(answers.map(({ status }) => status))].sort((a, b) => a - b);
}

async function readMetrics({ operatorUrl }: Program): Promise<{ memory: number; started: number }> {
  const text = await (await fetch(`${operatorUrl}/metrics`)).text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  const [memory, started] = ["process_resident_memory_bytes", "process_start_time_seconds"];
  return { memory: read(memory), started: read(started) };
}
