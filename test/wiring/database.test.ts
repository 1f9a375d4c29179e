import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { parsePostgresUrl } from "../../src/config/formats.ts";
import { describeDatabase } from "../../src/wiring/database.ts";

const SEVERAL = "postgres://the%20service:secret@one:5432,two:5433/partner";

test("a database with several hosts has one user, and is called by its first host", () => {
  const { databaseUrl, dataDir } = loadConfig({ DATABASE_URL: SEVERAL });
  assert.equal(parsePostgresUrl(SEVERAL)?.username, "the%20service");
  assert.equal(describeDatabase({ ...loadConfig({}), databaseUrl, dataDir }), "one:5432");
});
