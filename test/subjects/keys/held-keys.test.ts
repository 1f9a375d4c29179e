import assert from "node:assert/strict";
import { test } from "node:test";
import type { Published } from "../../../src/subjects/events/publication.ts";
import { publish } from "../../../src/subjects/events/publish.ts";
import type { NewEvent } from "../../../src/subjects/events/rules.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import { anEngineWith, anOrganization, aSubscription, createEngine } from "../../support/engine.ts";

const db = await createDatabase();

test("of events published together, only the one whose key is held waits for the transaction that holds it", async () => {
  const { deps, organization: organizationId } = await anEngineWith(db);
  const event = (dedupeKey: string): NewEvent => ({
    ...{ organizationId, type: "vc.test.ping", data: "{}", dedupeKey },
  });
  const published: string[] = [];
  const send = async (dedupeKey: string) => {
    const [one] = await deps.batched.publishAll([event(dedupeKey)]);
    published.push(dedupeKey);
    return one;
  };
  let holder: Published | undefined;
  let held: ReturnType<typeof send> | undefined;
  await db.begin(async (tx) => {
    [holder] = await publish(deps, tx, [event("held")]);
    held = send("held");
    const others = await Promise.all([send("a"), send("b")]);
    assert.deepEqual(
      others.map((one) => one?.isDuplicate),
      [false, false],
    );
    assert.deepEqual(published.toSorted(), ["a", "b"]);
  });
  assert.deepEqual(await held, {
    eventId: holder?.eventId,
    isDuplicate: true,
    subscriptionIds: [],
  });
});

test("batches without a key share statements, and wait for no key of another batch", async () => {
  let statements = 0;
  const { deps } = await createEngine(db, {
    noteWrite: (write) => {
      statements++;
      return write;
    },
  });
  const organizationId = await anOrganization(deps);
  await aSubscription(deps, organizationId);
  const event = (n: number, dedupeKey?: string): NewEvent => ({
    ...{ organizationId, type: "vc.test.ping", data: `{"n":${n}}` },
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
  });
  let held: Promise<Published[]> | undefined;
  await db.begin(async (tx) => {
    await publish(deps, tx, [event(0, "k")]);
    held = deps.batched.publishAll([event(1, "k"), event(2)]);
    const others = await Promise.all(
      [10, 20, 30, 40, 50, 60].map((n) => deps.batched.publishAll([event(n), event(n + 1)])),
    );
    assert.ok(statements <= 4, `two for the key and two for the others, not ${statements}`);
    const ids = others.flat().map(({ eventId }) => eventId);
    const stored = await db<{ data: string }[]>`
      select data from unnest(${ids}::uuid[]) with ordinality as given (id, place) join events using (id) order by place`;
    assert.deepEqual(
      column(stored, "data"),
      [10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 60, 61].map((n) => `{"n":${n}}`),
    );
  });
  assert.deepEqual(column(await held, "isDuplicate"), [true, false]);
});
