import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { randomId } from "../../src/lib/ids.ts";
import { connect } from "../../src/postgres/database.ts";
import { sendNudge } from "../../src/queue/nudging-sql.ts";
import { startNudging } from "../../src/queue/nudging.ts";
import { type DueSubscription, encodeNudge } from "../../src/queue/rules.ts";
import { NO_SLOTS } from "../../src/subjects/events/publication.ts";
import { recordProcess } from "../../src/subjects/processes/sql.ts";
import { Arrivals } from "../support/arrivals.ts";
import { createClock } from "../support/clock.ts";
import { identity, REPORT } from "../support/counted-engine.ts";
import { createDatabase } from "../support/database.ts";
import { aSubscription, createEngine } from "../support/engine.ts";

const db = await createDatabase();

const dueNow = () => ({ subscriptionId: randomId(), organizationId: randomId() });

const clock = createClock();
const parts = { db, clock };

/** Workers of one service, whose parent passes on what they tell. */
function aFamily() {
  const hearers: ((nudge: string) => void)[] = [];
  const told: string[] = [];
  const join = () => {
    let own: (nudge: string) => void = () => undefined;
    return {
      tell: (nudge: string) => {
        told.push(nudge);
        for (const accept of hearers) if (accept !== own) accept(nudge);
      },
      onNews: (accept: (nudge: string) => void) => {
        own = accept;
        hearers.push(accept);
      },
    };
  };
  return { join, told };
}

/** A process with a dispatcher, and the subscriptions of its nudges. */
async function aDispatcher(
  t: TestContext,
  {
    isFull = false,
    id = randomId(),
    siblings,
    database = db,
  }: {
    isFull?: boolean;
    id?: ReturnType<typeof randomId>;
    siblings?: Parameters<typeof startNudging>[3];
    database?: typeof db;
  } = {},
) {
  const nudged = new Arrivals<DueSubscription>();
  const nudge = (due: DueSubscription[]) => due.forEach((one) => nudged.add(one));
  const dispatcher = { nudge, accept: nudge, reserve: () => NO_SLOTS, isFull, acceptsNudges: true };
  const nudging = startNudging({ db: database, clock }, id, dispatcher, siblings);
  t.after(() => nudging.stop());
  await nudging.listening;
  return { ...nudging, nudged };
}

/** A dispatcher that has reported itself. */
async function aKnownDispatcher(t: TestContext, options = {}) {
  const id = randomId();
  await recordProcess(db, { ...identity, id, startedAt: clock() }, REPORT, clock());
  t.after(() => db`delete from processes where id = ${id}`);
  return aDispatcher(t, { ...options, id });
}

/** A process that publishes and has no dispatcher. */
async function aPublisher(t: TestContext) {
  const nudging = startNudging(parts, randomId(), null);
  t.after(() => nudging.stop());
  const { deps } = await createEngine(db, { nudge: nudging.nudge, reserve: nudging.reserve });
  const { id, organizationId } = await aSubscription(deps);
  return { deps, nudging, due: { subscriptionId: id, organizationId } };
}

test("a process without a dispatcher nudges the dispatchers of others", async (t) => {
  const { nudged } = await aDispatcher(t);
  const { deps, due } = await aPublisher(t);
  const { organizationId } = due;
  await deps.batched.publish({ organizationId, type: "vc.test.ping", data: "{}" });
  assert.deepEqual(await nudged.until(([first]) => first), due);
});

test("a process nudges others only if its own dispatcher has no slot", async (t) => {
  const busy = await aDispatcher(t, { isFull: true });
  const free = await aDispatcher(t);
  const other = await aDispatcher(t);
  const [kept, told] = [dueNow(), dueNow()];
  free.nudge([kept]);
  await free.stop();
  busy.nudge([told]);
  await other.nudged.until(([first]) => first);
  assert.deepEqual(other.nudged.all, [told]);
});

test("a worker whose dispatcher has no slot tells its siblings without the database", async (t) => {
  const { join, told } = aFamily();
  const dead = connect("postgres://nobody@127.0.0.1:1/nowhere", { max: 1, name: "test" });
  t.after(() => dead.end({ timeout: 0 }));
  const quiet = Object.assign(dead, { listen: () => null });
  const busy = await aDispatcher(t, { isFull: true, siblings: join(), database: quiet });
  const free = await aDispatcher(t, { siblings: join(), database: quiet });
  const [kept, passed] = [dueNow(), dueNow()];
  free.nudge([kept]);
  busy.nudge([passed]);
  await free.nudged.until((all) => all[1]);
  assert.deepEqual(free.nudged.all, [kept, passed]);
  assert.deepEqual(busy.nudged.all, [passed]);
  assert.deepEqual(told, [encodeNudge([passed])], "one with a free slot tells nobody");
});

test("of two dispatchers, only one gets each nudge of a process without a dispatcher", async (t) => {
  const dispatchers = [await aKnownDispatcher(t), await aKnownDispatcher(t)];
  const { nudging } = await aPublisher(t);
  const hearersOf = async (due: DueSubscription) => {
    nudging.nudge([due]);
    await Promise.any(dispatchers.map(({ nudged }) => nudged.until(findIt(due))));
    const last = dueNow(); // It is for both. Nudges arrive in order, so a dispatcher that has it gets no earlier one.
    await sendNudge(db, encodeNudge([last]));
    await Promise.all(dispatchers.map(({ nudged }) => nudged.until(findIt(last))));
    return dispatchers.map(({ nudged }) => findIt(due)(nudged.all) !== undefined);
  };
  const heard = new Set<string>(); // The first nudges are for all, until the publisher knows the dispatchers.
  for (let nudges = 0; nudges < 20; nudges++) heard.add(String(await hearersOf(dueNow())));
  assert.ok(heard.has("true,false") && heard.has("false,true"), [...heard].join("; "));
});

test("a process with a full dispatcher tells all others", { timeout: 10_000 }, async (t) => {
  const busy = await aKnownDispatcher(t, { isFull: true });
  const others = [await aKnownDispatcher(t), await aKnownDispatcher(t)];
  for (let nudges = 0; nudges < 4; nudges++) {
    const due = dueNow();
    busy.nudge([due]);
    await Promise.all(others.map(({ nudged }) => nudged.until(findIt(due))));
  }
});

test("a full dispatcher passes on to the others what only it got", async (t) => {
  await aKnownDispatcher(t, { isFull: true });
  const other = await aDispatcher(t);
  const { nudging } = await aPublisher(t);
  for (let nudges = 0; nudges < 10; nudges++) {
    const due = dueNow();
    nudging.nudge([due]);
    await other.nudged.until(findIt(due));
  }
});

const findIt = (due: DueSubscription) => (all: readonly DueSubscription[]) =>
  all.find(({ subscriptionId }) => subscriptionId === due.subscriptionId);
