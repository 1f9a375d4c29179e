import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../../src/postgres/database.ts";
import { migrate } from "../../../src/schema/migrate.ts";
import { Afterwards } from "../../ledger/afterwards.ts";
import { openDatabaseServer } from "../../ledger/database-server.ts";
import { startPartnerApi } from "../../support/partner-api.ts";
import { aTemporaryFolder } from "../../support/temporary-folder.ts";

const LIMIT = 5;

test("a crash of PostgreSQL empties the rate windows, so an organization gets one more full window and no more", async (t) => {
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const folder = await aTemporaryFolder(afterwards);
  const server = await openDatabaseServer(afterwards, folder);
  const db = connect(server.url, { max: 4, name: "test" });
  afterwards.after(() => db.end({ timeout: 1 }));
  await migrate(db);
  const api = startPartnerApi(afterwards, db);
  const key = await api.aKeyOf(await api.anOrganization({ rateLimitPerMinute: LIMIT }));

  assert.deepEqual([await passing(), await passing()], [LIMIT, 0]);
  await server.harm();
  assert.deepEqual([await passing(), await passing()], [LIMIT, 0], "in the same minute");

  /** The number of requests that pass until one is refused. A connection from before the crash answers with 503 once. */
  async function passing(): Promise<number> {
    const { authorization } = key;
    for (let passed = 0; ;) {
      const { statusCode } = await api.inject({
        url: "/api/v1/partner/me",
        headers: { authorization },
      });
      if (statusCode === 429) return passed;
      if (statusCode === 200) passed++;
      else assert.equal(statusCode, 503);
    }
  }
});
