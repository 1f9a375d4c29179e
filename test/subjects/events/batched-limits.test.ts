import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Database } from "../../../src/postgres/database.ts";
import { createDependencies } from "../../../src/subjects/create-dependencies.ts";
import type { Dependencies } from "../../../src/subjects/dependencies.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";

type Batched = Dependencies["batched"];

const db = await createDatabase();
const { deps } = await createEngine(db);
const { id: organizationId } = await createOrganization(deps, { slug: "acme" });
const ping = { organizationId, type: "vc.test.ping", data: "{}" };

/** Each ends in statements of its own. */
const CALLS: Record<string, (batched: Batched) => Promise<unknown>> = {
  admission: ({ admit }) => admit({ keyId: "0".repeat(16), secretHash: "0".repeat(64) }),
  "look-up of a subscription": ({ findSubscription }) =>
    findSubscription({ id: randomUUID(), soughtBy: null }),
  "look-up of an organization": ({ findOrganization }) =>
    findOrganization({ id: null, slug: "acme" }),
  event: ({ publish }) => publish(ping),
  "event with a key": ({ publishAll }) => publishAll([{ ...ping, dedupeKey: "one" }]),
  "list of events": ({ publishAll }) => publishAll([ping, ping]),
};

/** The database, without the statements that have no time limit. */
function onlyInTime({ within, ...others }: Database): Database {
  const refuse = () => assert.fail("this statement has no time limit");
  return Object.assign(refuse, { ...others, begin: refuse, within });
}

for (const [what, call] of Object.entries(CALLS)) {
  test(`the statement of each ${what} has the time limit of its batch, so that the next batch can go to another host`, async () => {
    const { batched } = createDependencies({ ...deps, db: onlyInTime(db) });
    await call(batched);
  });
}
