import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { answerOnce } from "../../src/subjects/events/idempotency.ts";
import { keyIdOf, type KeyRing, open } from "../../src/subjects/secrets/rules.ts";
import { findSubscriptions } from "../../src/subjects/subscriptions/sql.ts";
import { deleteSubscription } from "../../src/subjects/subscriptions/work.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createDatabase } from "../support/database.ts";
import { anOrganization, aSubscription, createEngine } from "../support/engine.ts";

const oldKey = { id: "old", key: randomBytes(32) };
const newKey = { id: "new", key: randomBytes(32) };
const { deps } = await createEngine(await createDatabase(), { ring: [oldKey] });

const resealUnder = (ring: KeyRing) => createCommandLine({ ...deps, ring });

async function sealedUnder(keyId: string, ids: string[]): Promise<boolean> {
  const rows = await findSubscriptions(deps.db, ids);
  return rows.length === ids.length && rows.every((row) => keyIdOf(row.sealedSecret) === keyId);
}

test("every secret is resealed under the newest key and stays the same", async () => {
  const organizationId = await anOrganization(deps);
  const made = [];
  for (let i = 0; i < 101; i++) made.push(await aSubscription(deps, organizationId));
  const deleted = await aSubscription(deps, organizationId);
  await deleteSubscription(deps, organizationId, deleted.id);
  const ids = made.map((subscription) => subscription.id);
  assert.equal(await sealedUnder("old", ids), true);

  const { run, json } = resealUnder([newKey, oldKey]);
  assert.deepEqual(await run("reseal"), {
    status: 0,
    stdout: "101 secrets resealed under key new; 0 secrets already had that key.\n",
    stderr: "",
  });
  assert.equal(await sealedUnder("new", ids), true);
  const [first] = await findSubscriptions(deps.db, ids.slice(0, 1));
  assert.equal(
    open([newKey], first?.id ?? "", first?.sealedSecret ?? Buffer.of()),
    made[0]?.secret,
  );

  assert.deepEqual(await json("reseal"), {
    sealing_key: "new",
    resealed: 0,
    unchanged: 101,
    unreadable: 0,
    unreadable_subscriptions: [],
  });
});

test("stored responses are resealed, too, and stay the same", async () => {
  const organizationId = await anOrganization(deps);
  const ask = { organizationId, route: "createSubscription", hash: randomBytes(32) } as const;
  const keys = Array.from({ length: 101 }, (_, i) => `key-${i}`);
  const { id } = await aSubscription({ ...deps, ring: [newKey] }, organizationId);
  for (const key of keys) {
    await answerOnce(deps, { ...ask, key }, async (keep) => {
      await deps.db.begin((tx) => keep(tx, id, `answer to ${key}`));
      return "";
    });
  }
  const { stdout } = await resealUnder([newKey, oldKey]).run("reseal");
  assert.match(stdout, /^101 secrets resealed under key new; /);
  for (const key of keys) {
    const kept = await answerOnce({ ...deps, ring: [newKey] }, { ...ask, key }, () =>
      Promise.reject(new Error("it is kept")),
    );
    assert.deepEqual(kept, { body: `answer to ${key}`, isReplayed: true });
  }
  await deleteSubscription(deps, organizationId, id);
});

test("a secret that no key opens is reported and left unchanged", async () => {
  const [before, again] = await Promise.all([aSubscription(deps), aSubscription(deps)]);
  const lost = [before.id, again.id].sort();

  const { status, stdout, stderr } = await resealUnder([newKey]).run("reseal");
  assert.equal(status, 1);
  assert.equal(stdout, "0 secrets resealed under key new; 101 secrets already had that key.\n");
  assert.equal(
    stderr,
    `error: no key of the ring opens the secrets of wh_${lost.join(", wh_")}: ` +
      "add the key that sealed them to SEALING_KEYS\n",
  );
  assert.equal(await sealedUnder("old", lost), true);
});

test("a different key with the newest key's id is detected", async () => {
  const impostor = { id: "new", key: randomBytes(32) };
  const { status, stderr } = await resealUnder([impostor]).run("reseal");
  assert.equal(status, 1);
  assert.equal(stderr.split("wh_").length - 1, 100);
  assert.match(stderr, / and 3 more: /);
});

test("a secret that is erased or replaced during resealing is left unchanged", async () => {
  const made = await aSubscription(deps);
  const { db } = deps;
  // Replaces the secret between the read and the write of reseal.
  const racing = new Proxy(db, {
    apply: (target, self, args: [TemplateStringsArray, ...unknown[]]) => {
      const go = () => Reflect.apply(target, self, args) as unknown;
      const isWrite =
        String(args[0][0]).includes("update subscriptions set sealed_secret") &&
        args.includes(made.id);
      if (!isWrite) return go();
      return db`update subscriptions set sealed_secret = ${Buffer.of(0)} where id = ${made.id}`.then(
        go,
      );
    },
  });
  const { json } = createCommandLine({ ...deps, db: racing, ring: [newKey, oldKey] });
  const { resealed } = await json<{ resealed: number }>("reseal");
  const [row] = await findSubscriptions(db, [made.id]);
  assert.deepEqual(row?.sealedSecret, Buffer.of(0));
  assert.equal(resealed, 2);
});
