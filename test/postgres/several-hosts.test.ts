import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, isUnavailable, learnTypes } from "../../src/postgres/database.ts";
import { createDatabase } from "../support/database.ts";
import { aGate } from "../support/database-gate.ts";
import { freePort } from "../support/free-port.ts";

const db = await createDatabase({ max: 1 });

/** A pool whose first host comes before those of `url`. */
function withFirst(port: number, url: string) {
  const { host } = new URL(url);
  return connect(url.replace(host, `127.0.0.1:${port},${host}`), { max: 2, name: "test" });
}

test("while none of several hosts is the primary a statement fails, and so does the next", async (t) => {
  const gate = await aGate(t, db);
  gate.demote();
  const twice = withFirst(await freePort(), gate.url);
  t.after(() => twice.end({ timeout: 0 }));
  for (let asked = 0; asked < 6; asked++) {
    await assert.rejects(async () => twice`select 1`, isUnavailable);
  }
  assert.ok(gate.dialled() <= 6, `dialled ${gate.dialled()} times`);

  gate.promote();
  await twice`select 1`.catch(() => twice`select 1`);
});

test("a start finds the host that is there, wherever it stands", async (t) => {
  const gate = await aGate(t, db);
  const pool = withFirst(await freePort(), gate.url);
  t.after(() => pool.end({ timeout: 0 }));
  await learnTypes(pool);
  await pool`select 1`;
});

test("a start passes over a standby, however often", async (t) => {
  const [standby, primary] = [await aGate(t, db), await aGate(t, db)];
  standby.demote();
  for (let start = 0; start < 10; start++) {
    const pool = withFirst(Number(new URL(standby.url).port), primary.url);
    t.after(() => pool.end({ timeout: 0 }));
    await learnTypes(pool);
    await pool`select 1`;
  }
});
