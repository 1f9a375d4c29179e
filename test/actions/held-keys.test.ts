import assert from "node:assert/strict";
import { test } from "node:test";
import { publish } from "../../src/actions/publish.ts";
import type { NewEvent } from "../../src/domain/event.ts";
import type { Published } from "../../src/actions/publication.ts";
import { createDatabase } from "../support/database.ts";
import { anEngineWith } from "../support/engine.ts";

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
