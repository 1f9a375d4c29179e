import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault } from "../../../src/lib/errors.ts";
import { createEventTypes } from "../../../src/subjects/event-types/rules.ts";
import { createDatabase } from "../../support/database.ts";
import {
  aNestedType,
  NESTED_DATA,
  pathsIn,
  replacedAt,
  valueAt,
} from "../../support/nested-type.ts";
import { aPublisherApi } from "../../support/publisher-api.ts";

const db = await createDatabase();
const eventTypes = createEventTypes([await aNestedType()]);

/** A value of each type of JSON. */
const VALUES = [null, true, 7.5, "text", [], {}];

function typeOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** For some values an event needs more than their type. */
const full = (organization: string) => ({
  ...{ organization, type: "order.created", data: NESTED_DATA },
  ...{ occurred_at: "2026-01-01T00:00:00Z", dedupe_key: "k" },
});

test("a value of a wrong type is refused with its pointer, at every place of an event and of a batch", async (t) => {
  const { postText, countEvents, slug, clock } = await aPublisherApi(t, db, eventTypes);
  const event = { ...full(slug), occurred_at: clock().toISOString() };
  let places = 0;
  for (const body of [event, { events: [{ ...event, dedupe_key: "first" }, event] }]) {
    for (const path of pathsIn(body)) {
      const right = typeOf(valueAt(body, path));
      for (const wrong of VALUES.filter((value) => typeOf(value) !== right)) {
        places++;
        const pointer = path.map((step) => `/${step}`).join("");
        const answer = await postText(JSON.stringify(replacedAt(body, path, wrong)));
        const what = `${JSON.stringify(wrong)} at ${pointer}: ${answer.payload}`;
        assert.equal(answer.statusCode, 422, what);
        const { errors: faults } = answer.json<{ errors: Fault[] }>();
        const expected = pointer === "" ? ["", "/data", "/organization", "/type"] : [pointer];
        assert.ok(faults.length > 0, what);
        for (const fault of faults) assert.ok(expected.includes(fault.pointer), what);
      }
    }
  }
  assert.ok(places > 250, `${places} places`);
  assert.equal(await countEvents(), 0);
  assert.equal((await postText(JSON.stringify(event))).statusCode, 202);
});
