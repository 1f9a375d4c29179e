import assert from "node:assert/strict";
import { test } from "node:test";
import { publishEvents } from "../../../src/subjects/events/publish.ts";
import { createDatabase } from "../../support/database.ts";
import { aPublisherApi } from "../../support/publisher-api.ts";

const db = await createDatabase();

test("while a batch of 1,000 events is checked, other requests are served", async (t) => {
  const { deps, order } = await aPublisherApi(t, db);
  const seen: string[] = [];
  let another = setImmediate(goOn);
  function goOn(): void {
    seen.push("another");
    another = setImmediate(goOn);
  }
  const findOrganization: typeof deps.batched.findOrganization = (name) => {
    seen.push("checked");
    return deps.batched.findOrganization(name);
  };
  const events = Array.from({ length: 1_000 }, () => order);
  await publishEvents({ ...deps, batched: { ...deps.batched, findOrganization } }, { events });
  clearImmediate(another);
  assert.ok(seen.indexOf("checked") >= 5, "the events are read in many steps");
});

test("the text of a large body is checked in many steps", async (t) => {
  const { app, postText } = await aPublisherApi(t, db);
  let turns = 0;
  let another: NodeJS.Immediate | undefined;
  const goOn = () => {
    turns++;
    another = setImmediate(goOn);
  };
  app.addHook("preParsing", (_request, _reply, _payload, done) => {
    turns = 0;
    goOn();
    done();
  });
  app.addHook("preValidation", (_request, _reply, done) => {
    clearImmediate(another);
    done();
  });
  const turnsOf = async (events: unknown) => {
    const { statusCode } = await postText(JSON.stringify({ events }));
    assert.equal(statusCode, 422);
    return turns;
  };
  const numbers = Array.from({ length: 100_000 }, () => 1);
  const apart = (await turnsOf({ numbers })) - (await turnsOf("1".repeat(200_000)));
  assert.ok(apart >= 15, `${apart} turns more for 200,000 characters`);
});
