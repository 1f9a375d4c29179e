import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { connect, isUnavailable } from "../../src/postgres/database.ts";
import { createDatabase } from "../support/database.ts";
import { aGate } from "../support/database-gate.ts";
import { freePort, openPort } from "../support/free-port.ts";

const db = await createDatabase({ max: 1 });

/** A pool with another host before those of `url`. */
function withFirst(t: TestContext, port: number, url: string) {
  const { host } = new URL(url);
  const pool = connect(url.replace(host, `127.0.0.1:${port},${host}`), { max: 2, name: "test" });
  t.after(() => pool.end({ timeout: 0 }));
  return pool;
}

test("while none of several hosts is the primary a statement fails, and so does the next", async (t) => {
  const gate = await aGate(t, db);
  gate.demote();
  const twice = withFirst(t, await freePort(), gate.url);
  for (let asked = 0; asked < 6; asked++) {
    await assert.rejects(async () => twice`select 1`, isUnavailable);
  }
  assert.equal(gate.dialled(), 6);

  gate.promote();
  await twice`select 1`;
});

test("a start finds the available host at any position of the list", async (t) => {
  const gate = await aGate(t, db);
  const pool = withFirst(t, await freePort(), gate.url);
  await Promise.all([pool`select 1`, pool`select 1`]);
  assert.equal(gate.dialled(), 2);
});

test("a start always skips a standby", async (t) => {
  const [standby, primary] = [await aGate(t, db), await aGate(t, db)];
  standby.demote();
  for (let start = 0; start < 10; start++) {
    const pool = withFirst(t, Number(new URL(standby.url).port), primary.url);
    await pool`select 1`;
  }
});

test("after a failover all statements go to the new primary, and no connection stays with the old one", async (t) => {
  const [old, next] = [await aGate(t, db), await aGate(t, db)];
  next.demote();
  const pool = withFirst(t, Number(new URL(old.url).port), next.url);
  const ask = () => Promise.all([pool`select pg_sleep(0.01)`, pool`select pg_sleep(0.01)`]);
  await ask();
  assert.deepEqual([old.dialled(), next.dialled()], [2, 0]);

  await old.close();
  old.demote();
  next.promote();
  await old.open();
  await ask().catch(() => undefined);
  old.freeze(); // A statement on the old server would wait for ever.
  for (let n = 0; n < 5; n++) await ask();
  await pool.begin((tx) => tx`select 1`);
});

test("the next statement uses a standby that became primary", async (t) => {
  const [one, other] = [await aGate(t, db), await aGate(t, db)];
  for (const gate of [one, other]) gate.demote();
  const pool = withFirst(t, Number(new URL(one.url).port), other.url);
  await assert.rejects(pool`select 1`.execute(), /no host is the primary/);
  other.promote();
  await pool`select 1`;
});

test("a host that fails late does not displace a working one", async (t) => {
  const held: Socket[] = [];
  const mute = await aServer(t, (socket) => held.push(socket.on("error", () => undefined)));
  let refusals = 0;
  const refusing = await aServer(t, (socket) => {
    refusals++;
    socket.destroy();
  });
  const gate = await aGate(t, db);
  const { host } = new URL(gate.url);
  const pool = connect(gate.url.replace(host, `${mute},${refusing},${host}`), {
    max: 2,
    name: "test",
  });
  t.after(() => pool.end({ timeout: 0 }));

  let tell: () => void = () => undefined;
  const connected = new Promise<void>((resolve) => (tell = resolve));
  const first = pool.begin(() => {
    tell();
    return late; // Until then no other statement gets this connection.
  });
  const late = pool`select 1`.execute();
  while (held.length < 2) await new Promise(setImmediate);
  held[0]?.destroy();
  await connected;
  held[1]?.destroy();
  await Promise.all([first, late]);
  assert.equal(refusals, 1);
});

for (const mode of ["session", "transaction"]) {
  test(`a start behind a pooler in ${mode} mode skips a standby`, async (t) => {
    const [standby, primary] = [await aGate(t, db), await aGate(t, db)];
    standby.demote();
    const pool = withFirst(
      t,
      Number(new URL(standby.url).port),
      `${primary.url}?pool_mode=${mode}`,
    );
    await pool`select 1`;
    const alone = connect(`${standby.url}?pool_mode=${mode}`, { max: 1, name: "test" });
    t.after(() => alone.end({ timeout: 0 }));
    await assert.rejects(alone`select 1`.execute(), /this is a standby/);
  });
}

for (const query of ["", "?pool_mode=session", "?pool_mode=transaction"]) {
  test(`a pooler that sends reads to a standby is refused, and the error says what to set: ${query}`, async (t) => {
    const gate = await aGate(t, db);
    gate.divide();
    const pool = connect(`${gate.url}${query}`, { max: 1, name: "test" });
    t.after(() => pool.end({ timeout: 0 }));
    await assert.rejects(
      pool`select 1`.execute(),
      /reads to a standby: set load_balance_mode = off/,
    );
  });
}

test("after a failover, a pooler that leads to a standby is left at the next transaction, even to read", async (t) => {
  const [old, next] = [await aGate(t, db), await aGate(t, db)];
  const pool = withFirst(t, Number(new URL(old.url).port), `${next.url}?pool_mode=transaction`);
  await pool`select 1`;
  old.demote();
  await assert.rejects(pool`select 1`.execute(), /this is a standby/);
  await pool`select 1`;
  await pool.begin((tx) => tx`select 1`);
  assert.equal(next.dialled(), 1);
});

async function aServer(t: TestContext, serve: (socket: Socket) => void): Promise<string> {
  return `127.0.0.1:${await openPort(t, createServer(serve))}`;
}
