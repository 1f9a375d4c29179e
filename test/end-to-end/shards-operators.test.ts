import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { column } from "../support/columns.ts";
import { startService } from "../support/service.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { aPartnerIn, aShardedRig, operatorOf } from "../support/shards.ts";

interface Items {
  items: Record<string, string>[];
  next_cursor: string | null;
  unavailable_shards?: string[];
}

test("operators use several shards like one", async (t) => {
  const { rig, gateOf } = await aShardedRig(t, ["00", "01"]);
  const program = await startService(t, { ...rig, RETRY_DELAYS: "1ms" });
  const ask = operatorOf(program);
  const list = async (path: string) => (await ask(path)).body as unknown as Items;
  const create = (slug: string, shard?: string) =>
    ask("/organizations", { method: "POST", body: { slug, shard } });

  await t.test(
    "new organizations go to the shard with the fewest, or to the named one",
    async () => {
      const shards: unknown[] = [];
      for (const slug of ["d4", "d3", "d2", "d1"]) shards.push((await create(slug)).body["shard"]);
      assert.deepEqual([...shards].sort(), ["00", "00", "01", "01"]);
      assert.equal((await create("there", "01")).body["shard"], "01");
      const { status, body } = await create("nowhere", "zz");
      assert.equal(status, 422);
      assert.match(JSON.stringify(body["errors"]), /"\/shard".*one of 00, 01/);
    },
  );

  await t.test("a slug is taken in all shards at once", async () => {
    for (const shard of ["00", "01"]) {
      const { status, body } = await create("there", shard);
      assert.deepEqual([status, body["code"]], [409, "slug_taken"]);
    }
  });

  await t.test("lists merge, and their cursors stay stable while rows are added", async () => {
    const slugs: string[] = [];
    let path: string | null = "/organizations?limit=2";
    while (path !== null) {
      const page: Items = await list(path);
      assert.ok(page.items.length <= 2);
      slugs.push(...page.items.map(({ slug = "" }) => slug));
      path = page.next_cursor && `/organizations?limit=2&cursor=${page.next_cursor}`;
      await create(`a${slugs.length}`); // Creates it before the current position.
    }
    assert.deepEqual(slugs, ["d1", "d2", "d3", "d4", "there"]);
  });

  const receiver = await startLocalReceiver(t);
  const partners = [
    await aPartnerIn(program, "00", "acme"),
    await aPartnerIn(program, "01", "other"),
  ];
  const subscriptions: { id: string; secret: string }[] = [];
  for (const partner of partners) subscriptions.push(await partner.subscribe(receiver.url("/")));
  for (let i = 0; i < 3; i++) {
    for (const [n, partner] of partners.entries()) {
      const subscription = subscriptions[n];
      if (subscription) await partner.ping(subscription);
      await receiver.next();
    }
  }

  await t.test("deliveries and keys of all shards are listed newest first", async () => {
    const all = await list("/deliveries");
    const ids = all.items.map(({ id = "" }) => id);
    assert.equal(ids.length, 6);
    assert.deepEqual(ids, [...ids].sort().reverse());
    const first = await list("/deliveries?limit=4");
    const rest = await list(`/deliveries?limit=4&cursor=${first.next_cursor}`);
    assert.deepEqual(column([...first.items, ...rest.items], "id"), ids);
    assert.equal(rest.next_cursor, null);
    const times = (await list("/keys")).items.map(({ created_at = "" }) => created_at);
    assert.deepEqual(times, [...times].sort().reverse());
    assert.equal((await list("/deliveries?organization=other")).items.length, 3);
  });

  await t.test("a bare id is found and changed in any shard", async () => {
    for (const subscription of subscriptions) {
      const { status, body } = await ask(`/subscriptions/${subscription.id}`, {
        method: "PATCH",
        body: { max_per_second: 5 },
      });
      assert.deepEqual([status, body["max_per_second"]], [200, 5]);
      const { body: found } = await ask(`/find?q=${subscription.id}`);
      assert.equal((found["items"] as unknown[]).length, 1);
    }
    assert.equal(
      (await ask(`/subscriptions/wh_${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}`)).status,
      404,
    );
    const { body } = await ask("/find?q=vc.test");
    assert.deepEqual(body["items"], [
      { kind: "event_type", id: "vc.test.ping", label: "vc.test.ping" },
    ]);
    const changes = await list("/changes?action=set_ceiling");
    assert.equal(changes.items.length, 2);
  });

  await t.test("the overview adds up all shards and shows each process once", async () => {
    for (;;) {
      const { body } = await ask("/overview");
      const { published } = body["last_24h"] as { published: number };
      if (published === 6) break;
      await sleep(50);
    }
    const { body } = await ask("/overview");
    assert.equal(body["status"], "ok", JSON.stringify(body["problems"]));
    assert.equal((body["processes"] as unknown[]).length, 1);
    const activity = (await ask("/activity?step=1h")).body as unknown as {
      items: { published: number }[];
    };
    assert.equal(
      activity.items.reduce((sum, { published }) => sum + published, 0),
      6,
    );
    const types = (await list("/event-types")) as unknown as {
      items: { type: string; subscriptions: number }[];
    };
    assert.equal(types.items[0]?.subscriptions, 2);
  });

  await t.test(
    "while a shard is away, answers name it, and requests that do not need it work",
    async () => {
      await gateOf("01").close();
      const page = await list("/organizations?limit=200");
      assert.deepEqual(page.unavailable_shards, ["01"]);
      assert.ok(page.items.every(({ shard }) => shard === "00"));
      for (const path of ["/find?q=acme", "/activity", "/event-types", "/keys"]) {
        assert.deepEqual((await list(path)).unavailable_shards, ["01"], path);
      }
      const there = await ask(`/subscriptions/${subscriptions[1]?.id}`);
      assert.equal(there.status, 503);
      assert.match(String(there.body["detail"]), /shard 01/);
      assert.equal((await ask(`/subscriptions/${subscriptions[0]?.id}`)).status, 200);
      assert.equal((await create("late")).body["shard"], "00");
      let { body } = await ask("/overview");
      while (body["status"] === "ok") ({ body } = await ask("/overview")); // The overview is cached for a second.
      assert.equal(body["status"], "degraded");
      assert.match(JSON.stringify(body["problems"]), /"code":"shard","detail":"[^"]*\b01\b/);
      await gateOf("01").open();
      while ((await list("/organizations?limit=200")).unavailable_shards) await sleep(50);
    },
  );

  await t.test("answers leave out a frozen shard until it responds again", async () => {
    gateOf("01").freeze();
    for (const path of ["/organizations", "/find?q=a", "/deliveries"]) {
      assert.deepEqual((await list(path)).unavailable_shards, ["01"], path);
    }
    const unknown = await ask(
      `/subscriptions/wh_${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}`,
    );
    assert.equal(unknown.status, 503);
    assert.match(String(unknown.body["detail"]), /shard 01/);
    assert.equal((await ask(`/subscriptions/${subscriptions[0]?.id}`)).status, 200);
    assert.match(JSON.stringify((await ask("/overview")).body["problems"]), /"code":"shard"/);
    gateOf("01").thaw();
    while ((await list("/organizations?limit=200")).unavailable_shards) await sleep(50);
  });

  await t.test(
    "without the home shard no organization is created, and everything else works",
    async () => {
      await gateOf("00").close();
      const { status, body } = await create("later", "01");
      assert.equal(status, 503);
      assert.match(String(body["detail"]), /home shard 00/);
      const key = await ask("/keys", { method: "POST", body: { organization: "other" } });
      assert.equal(key.status, 201, JSON.stringify(key.body));
      await gateOf("00").open();
      while ((await create("later", "01")).status === 503) await sleep(50);
      assert.equal(
        (await list("/organizations?limit=200")).items.filter(({ slug }) => slug === "later")
          .length,
        1,
      );
    },
  );
});
