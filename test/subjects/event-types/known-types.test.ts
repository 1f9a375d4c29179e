import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, test } from "node:test";
import type { Database, Queryable } from "../../../src/postgres/database.ts";
import { createEventTypes, type EventTypes } from "../../../src/subjects/event-types/rules.ts";
import {
  announceEventTypes,
  listEverKnown,
  listUnknownSubscribed,
  NODE_UNSEEN_MS,
  withdrawNode,
} from "../../../src/subjects/event-types/work.ts";
import { createClock } from "../../support/clock.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { anOrganization, aSubscription, createEngine } from "../../support/engine.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const db = await createDatabase();
const clock = createClock();

const knowing = (...names: string[]): EventTypes =>
  createEventTypes(
    names.map((name) => ({ name, summary: name, schema: {}, example: {}, faultsOf: () => [] })),
  );

/** A node with these types, and functions that announce and end it. */
function aNode(...names: string[]) {
  const id = randomUUID();
  return {
    announce: () => announceEventTypes({ db, clock, eventTypes: knowing(...names) }, id),
    end: () => withdrawNode({ db, clock }, id),
  };
}

/** The types that the SQL function accepts. */
async function publishable(...names: string[]): Promise<string[]> {
  const rows = await ownerOf(db)<{ name: string }[]>`
    select name from unnest(${names}::text[]) as name where is_event_type(name) order by name`;
  return rows.map(({ name }) => name);
}

beforeEach(async () => {
  await ownerOf(db)`delete from event_type_nodes`;
  await ownerOf(db)`delete from event_types`;
});

test("nodes with different folders keep each other's types", async () => {
  const [old, fresh] = [aNode("a.b", "a.c"), aNode("a.b", "a.d")];
  await old.announce();
  await fresh.announce();
  await old.announce();
  assert.deepEqual(await publishable("a.b", "a.c", "a.d", "a.e"), ["a.b", "a.c", "a.d"]);
});

test("a type without a file is retired when the last node with it has ended", async () => {
  const [old, fresh] = [aNode("a.b", "a.c"), aNode("a.b")];
  await old.announce();
  await fresh.announce();
  await old.end();
  await fresh.announce();
  assert.deepEqual(await publishable("a.b", "a.c"), ["a.b"]);
  assert.deepEqual(await listEverKnown({ db, eventTypes: knowing("a.b") }), [
    "vc.test.ping",
    "a.b",
    "a.c",
  ]);

  await aNode("a.c").announce();
  assert.deepEqual(await publishable("a.b", "a.c"), ["a.b", "a.c"]);
});

test("a node that was killed is forgotten after five minutes", async () => {
  const fresh = aNode("a.b");
  await aNode("a.c").announce();
  clock.advance(NODE_UNSEEN_MS);
  await fresh.announce();
  assert.deepEqual(await publishable("a.b", "a.c"), ["a.b", "a.c"]);
  clock.advance(1);
  await fresh.announce();
  assert.deepEqual(await publishable("a.b", "a.c"), ["a.b"]);
});

test("while no node runs, the types of the last nodes stay known", async () => {
  const node = aNode("a.b");
  await node.announce();
  await node.end();
  clock.advance(24 * 3_600_000);
  assert.deepEqual(await publishable("a.b"), ["a.b"]);
});

test("nodes that announce at once do not fail", async () => {
  const nodes = Array.from({ length: 8 }, (_, i) => aNode("a.b", `a.n${i}`));
  await Promise.all(nodes.map(({ announce }) => announce()));
  assert.equal((await publishable("a.b", "a.n0", "a.n7")).length, 3);
});

test("nodes announce one after the other, so that no transaction conflicts with another", async () => {
  let later: Promise<unknown> | undefined;
  await db.begin(async (tx) => {
    // The first statement of an announcement.
    await tx`update event_type_nodes set seen_at = seen_at where false`;
    later = aNode("a.b").announce();
    const ahead = later.then(() => assert.fail("it did not wait"));
    await Promise.race([untilBlocked(db), ahead]);
    ahead.catch(() => undefined);
  });
  await later;
});

test("a node does not retire types that another one announces at the same time", async () => {
  const [ending, last] = [aNode("a.b"), aNode("a.z")];
  await ending.announce();
  let later: Promise<unknown> | undefined;
  await db.begin(async (tx) => {
    const within = { begin: (work: (tx: Queryable) => Promise<void>) => work(tx) } as Database;
    await announceEventTypes({ db: within, clock, eventTypes: knowing("a.b") }, randomUUID());
    later = ending.end().then(() => last.announce());
    await Promise.race([untilBlocked(db), later]);
  });
  await later;
  assert.deepEqual(await publishable("a.b", "a.z"), ["a.b", "a.z"]);
});

test("unknown types of active subscriptions are listed", async () => {
  const { deps } = await createEngine(db, { eventTypes: knowing("a.b") });
  const organizationId = await anOrganization(deps);
  for (const events of [["a.b", "gone.by"], ["vc.test.ping"], ["gone.disabled"]]) {
    const { id } = await aSubscription(deps, organizationId);
    await ownerOf(db)`update subscriptions set events = ${events} where id = ${id}`;
  }
  await ownerOf(db)`
    update subscriptions set auto_disabled_at = created_at where events = '{gone.disabled}'`;
  assert.deepEqual(await listUnknownSubscribed(deps), ["gone.by"]);
});
