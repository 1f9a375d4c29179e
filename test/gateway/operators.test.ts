import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { column } from "../support/columns.ts";
import { aGateway } from "../support/gateway.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { call } from "../support/rig.ts";

interface Items {
  items: Record<string, string>[];
  next_cursor: string | null;
  unreachable?: string[];
}

const UNKNOWN = `wh_${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}`;

test("operators use several cells like one service", async (t) => {
  const { ask, cell, partnerIn } = await aGateway(t, ["00", "01"], { RETRY_DELAYS: "1ms" });
  const list = async (path: string) => (await ask(path)).body as unknown as Items;
  const create = (slug: string, place?: string) =>
    ask("/organizations", { method: "POST", body: { slug, cell: place } });

  await t.test(
    "new organizations go to the cell with the fewest, or to the named one",
    async () => {
      const places: unknown[] = [];
      for (const slug of ["d4", "d3", "d2", "d1"]) places.push((await create(slug)).body["cell"]);
      assert.deepEqual([...places].sort(), ["00", "00", "01", "01"]);
      assert.equal((await create("there", "01")).body["cell"], "01");
      const { status, body } = await create("nowhere", "zz");
      assert.equal(status, 422);
      assert.match(JSON.stringify(body["errors"]), /"\/cell".*one of 00, 01/);
    },
  );

  await t.test("a slug is taken in all cells at once", async () => {
    for (const place of ["00", "01"]) {
      const { status, body } = await create("there", place);
      assert.deepEqual([status, body["code"]], [409, "slug_taken"]);
    }
  });

  await t.test("of several requests for one slug at once, one gets it", async () => {
    const places = ["00", "01", undefined, "01", "00", undefined];
    const answers = await Promise.all(places.map((place) => create("raced", place)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 409, 409, 409, 409, 409]);
  });

  await t.test("a slug that a cell gave without the gateway is taken, too", async () => {
    const url = `${cell("01").operatorUrl}/api/v1/admin/organizations`;
    const body = { slug: "before" };
    const made = await call(url, { method: "POST", token: ADMIN_TOKEN, body });
    assert.equal(made.status, 201);
    assert.equal((await create("before", "00")).status, 409);
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
    assert.deepEqual(slugs, ["before", "d1", "d2", "d3", "d4", "raced", "there"]);
  });

  const receiver = await startLocalReceiver(t);
  const partners = [await partnerIn("00", "acme"), await partnerIn("01", "other")];
  const subscriptions: { id: string; secret: string }[] = [];
  for (const partner of partners) subscriptions.push(await partner.subscribe(receiver.url("/")));
  for (let i = 0; i < 3; i++) {
    for (const [n, partner] of partners.entries()) {
      const subscription = subscriptions[n];
      if (subscription) await partner.ping(subscription);
      await receiver.next();
    }
  }

  await t.test("deliveries and keys of all cells are listed newest first", async () => {
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

  await t.test("a bare id is found and changed in any cell", async () => {
    for (const subscription of subscriptions) {
      const { status, body } = await ask(`/subscriptions/${subscription.id}`, {
        method: "PATCH",
        body: { max_per_second: 5 },
      });
      assert.deepEqual([status, body["max_per_second"]], [200, 5]);
      const { body: found } = await ask(`/find?q=${subscription.id}`);
      assert.equal((found["items"] as unknown[]).length, 1);
    }
    assert.equal((await ask(`/subscriptions/${UNKNOWN}`)).status, 404);
    for (const partner of partners) {
      const { body } = await ask("/keys", { method: "POST", body: { organization: partner.slug } });
      for (const id of [`vck_${String(body["key_id"])}`, String(body["key_id"])])
        assert.equal((await ask(`/keys/${id}`, { method: "DELETE" })).status, 204);
    }
    assert.equal((await ask("/keys/nothing", { method: "DELETE" })).status, 404);
    const { body } = await ask("/find?q=vc.test");
    assert.deepEqual(body["items"], [
      { kind: "event_type", id: "vc.test.ping", label: "vc.test.ping" },
    ]);
    const changes = await list("/changes?action=set_ceiling");
    assert.equal(changes.items.length, 2);

    const { body: counted } = await ask("/deliveries?count=true&limit=1");
    const counts = counted["counts"] as Record<string, number>;
    assert.equal(
      Object.values(counts).reduce((sum, one) => sum + one, 0),
      6,
    );
    assert.equal(counted["searched_until"], null);
    for (const { id } of subscriptions) {
      for (const held of [true, false]) {
        const change = { method: "PATCH", body: { held } };
        const { status, body } = await ask(`/subscriptions/${id}`, change);
        assert.deepEqual([status, body["held_at"] !== null], [200, held]);
      }
    }
    const unknown = "/deliveries/dlv_019bd1f1-0a00-7001-8b1c-5d6e7f809a1b/attempt";
    assert.equal((await ask(unknown, { method: "POST" })).status, 404);
  });

  await t.test("the overview adds up all cells and shows the processes of each", async () => {
    const sumOf = async () => {
      const { body } = await ask("/activity?step=1h");
      const points = body["items"] as { published: number; attempt_ms: { p50: number | null } }[];
      return points.reduce((sum, { published }) => sum + published, 0);
    };
    while ((await sumOf()) < 6) await sleep(50);
    assert.equal(await sumOf(), 6);
    const { body } = await ask("/overview");
    assert.equal((body["last_24h"] as { published: number }).published, 6);
    assert.doesNotMatch(JSON.stringify(body), /buckets|measure/);
    assert.equal(body["status"], "ok", JSON.stringify(body["problems"]));
    assert.deepEqual((body["processes"] as { cell: string }[]).map((one) => one.cell).sort(), [
      "00",
      "01",
    ]);
    const types = (await list("/event-types")) as unknown as {
      items: { type: string; subscriptions: number }[];
    };
    assert.equal(types.items[0]?.subscriptions, 2);
  });

  await t.test(
    "while a cell is away, answers name it, and requests that do not need it work",
    async () => {
      await cell("01").gate.close();
      const page = await list("/organizations?limit=200");
      assert.deepEqual(page.unreachable, ["01"]);
      assert.ok(page.items.every((item) => item["cell"] === "00"));
      for (const path of ["/find?q=acme", "/activity", "/event-types", "/keys", "/marks"]) {
        assert.deepEqual((await list(path)).unreachable, ["01"], path);
      }
      const there = await ask(`/subscriptions/${subscriptions[1]?.id}`);
      assert.equal(there.status, 503);
      assert.match(String(there.body["detail"]), /cell 01/);
      assert.equal((await ask(`/subscriptions/${subscriptions[0]?.id}`)).status, 200);
      assert.equal((await create("late")).body["cell"], "00");
      const { body } = await ask("/overview");
      assert.equal(body["status"], "degraded");
      assert.match(JSON.stringify(body["problems"]), /"code":"cell","detail":"[^"]*\b01\b/);
      await cell("01").gate.open();
      while ((await list("/organizations?limit=200")).unreachable) await sleep(50);
    },
  );

  await t.test("answers leave out a frozen cell until it responds again", async () => {
    cell("01").gate.freeze();
    for (const path of ["/organizations", "/find?q=a", "/deliveries"]) {
      assert.deepEqual((await list(path)).unreachable, ["01"], path);
    }
    const unknown = await ask(`/subscriptions/${UNKNOWN}`);
    assert.equal(unknown.status, 503);
    assert.match(String(unknown.body["detail"]), /cell 01/);
    assert.equal((await ask(`/subscriptions/${subscriptions[0]?.id}`)).status, 200);
    assert.match(JSON.stringify((await ask("/overview")).body["problems"]), /"code":"cell"/);
    cell("01").gate.thaw();
    while ((await list("/organizations?limit=200")).unreachable) await sleep(50);
  });

  await t.test(
    "without the first cell no organization is created, and everything else works",
    async () => {
      await cell("00").gate.close();
      const { status, body } = await create("later", "01");
      assert.equal(status, 503);
      assert.match(String(body["detail"]), /cell 00, which reserves the slugs/);
      const key = await ask("/keys", { method: "POST", body: { organization: "other" } });
      assert.equal(key.status, 201, JSON.stringify(key.body));
      await cell("00").gate.open();
      while ((await create("later", "01")).status === 503) await sleep(50);
      assert.equal(
        (await list("/organizations?limit=200")).items.filter(({ slug }) => slug === "later")
          .length,
        1,
      );
    },
  );
});
