import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beginSession,
  endSession,
  spreadEndedSessions,
  wasEnded,
} from "../../src/actions/sessions.ts";
import { type Shard, Shards } from "../../src/actions/shards.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";

test("a session that ended while a shard was away stays ended while the other one is away", async () => {
  const { deps } = await createEngine(await createDatabase({ max: 2 }));
  const { deps: others } = await createEngine(await createDatabase({ max: 2 }));
  const home: Shard = { name: "00", deps };
  const other: Shard = { name: "01", deps: null };
  const shards = new Shards([home, other], deps);
  const session = beginSession(shards);
  await endSession(shards, session);

  other.deps = others;
  await spreadEndedSessions(shards);
  home.deps = null;
  assert.equal(await wasEnded(shards, session), true);
  assert.equal(await wasEnded(shards, beginSession(shards)), false, "others are admitted");
});
