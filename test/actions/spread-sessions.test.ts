import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beginSession,
  endSession,
  spreadEndedSessions,
  wasEnded,
} from "../../src/actions/sessions.ts";
import { type Shard, Shards } from "../../src/actions/shards.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";

test("a session that was ended while a shard was away stays ended while the other shard is away", async () => {
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

test("a shard that refuses writes does not keep a sign-out from later shards", async () => {
  const databases = [await createDatabase({ max: 1 }), await createDatabase({ max: 1 })] as const;
  const { deps } = await createEngine(await createDatabase({ max: 2 }));
  const [readOnly, last] = await Promise.all(databases.map((db) => createEngine(db)));
  const home: Shard = { name: "00", deps };
  const all = [
    home,
    { name: "01", deps: readOnly?.deps ?? null },
    { name: "02", deps: null },
  ] as const;
  const shards = new Shards(all, deps);
  const session = beginSession(shards);
  const [db] = databases;
  const owner = ownerOf(db);
  await owner`alter role ${owner(db.options.user)} set default_transaction_read_only = on`;
  await db`set default_transaction_read_only = on`; // Changes the connection that is open already.
  await endSession(shards, session);

  const [, , third] = all as readonly Shard[];
  assert.ok(third);
  third.deps = last?.deps ?? null;
  await spreadEndedSessions(shards);
  home.deps = null;
  assert.equal(await wasEnded(shards, session), true);
});
