import assert from "node:assert/strict";
import { test } from "node:test";
import { createTable } from "../../src/postgres/moves/tables.ts";
import { createDatabase, ownerOf } from "../support/database.ts";

const owner = ownerOf(await createDatabase());

const EVIL = [
  "DEFAULT; drop table settings",
  "FOR VALUES FROM ('1') TO ('2'); drop table settings; --')",
  "FOR VALUES FROM (now()) TO ('2')",
  "FOR VALUES IN ('1')",
];

test("the new place of a shard runs no statement that the old place puts into the bounds of a partition", async () => {
  const partition = { oid: "1", name: "events_of_theirs", parent: "events", columns: [], key: [] };
  for (const bound of EVIL) {
    const creating = createTable(owner, { ...partition, bound, standsAlone: true });
    await assert.rejects(
      creating,
      /^Error: the partition events_of_theirs was not created by this program: /,
      bound,
    );
  }
});
