import assert from "node:assert/strict";
import { test } from "node:test";
import { reserveSlug } from "../../../src/subjects/organizations/sql.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";

const db = await createDatabase();
const { deps } = await createEngine(db);

test("a slug that is reserved for another cell is taken", async () => {
  assert.equal(await reserveSlug(db, "elsewhere", "0b"), "0b");
  await assert.rejects(createOrganization(deps, { slug: "elsewhere" }), { code: "slug_taken" });
  assert.equal((await db`select from organizations where slug = 'elsewhere'`).length, 0);
});

test("a slug that is reserved for the cell itself can be used once", async () => {
  assert.equal(await reserveSlug(db, "here", deps.cell), deps.cell);
  assert.equal((await createOrganization(deps, { slug: "here" })).slug, "here");
  await assert.rejects(createOrganization(deps, { slug: "here" }), { code: "slug_taken" });
});

test("the slug of an organization is reserved, so that no other cell gets it", async () => {
  await createOrganization(deps, { slug: "first" });
  assert.equal(await reserveSlug(db, "first", "0b"), deps.cell);
});
