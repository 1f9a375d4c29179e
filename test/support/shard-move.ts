import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Database } from "../../src/postgres/database.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { Arrivals } from "./arrivals.ts";
import { openPool } from "./database.ts";
import { aFolder, typeFile } from "./event-types.ts";
import { guideCommand } from "./guide.ts";
import { ADMIN_TOKEN, startProgram, type Served } from "./program.ts";
import { eventIdOf, startLocalReceiver } from "./receiver.ts";
import { aRig, call } from "./rig.ts";
import { aSecondServer } from "./second-server.ts";
import { operatorOf } from "./shards.ts";

/** A service with an organization that is subscribed to orders, and an empty server for its shard. */
export async function aService(t: TestContext) {
  const types = await aFolder(t, {
    "order.created.json": typeFile({ type: "object" }),
  });
  const rig = {
    ...(await aRig(t, { EVENT_TYPES: types })),
    SEALING_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
  };
  const { MIGRATION_DATABASE_URL: owners = "" } = rig as Record<string, string>;
  const old = openPool(t, owners, { max: 3, name: "test old" });
  const program = await startProgram(t, rig);
  const receiver = await startLocalReceiver(t);
  const ask = operatorOf(program);
  await ask("/organizations", { method: "POST", body: { slug: "acme" } });
  const scopes = ["webhooks:manage"];
  const key = await ask("/keys", { method: "POST", body: { organization: "acme", scopes } });
  const subscribed = await call(`${program.partnerUrl}/api/v1/partner/webhooks`, {
    ...{ method: "POST", token: String(key.body["token"]) },
    body: { url: receiver.url(), events: ["order.created"] },
  });
  assert.equal(subscribed.status, 201, JSON.stringify(subscribed.body));
  const second = await aSecondServer(t);
  const at = (url: string) => ({ ...rig, DATABASE_URL: url, MIGRATION_DATABASE_URL: "" });
  const [, ...words] = (await guideCommand(/^partner-api shard move/)).split(" ");
  const move = [...words.slice(0, 2), "00", "--to", second.url, "--json"];
  return { rig, old, program, receiver, token: String(key.body["token"]), second, at, move };
}

export function publish({ operatorUrl }: Served, key: string) {
  const event = {
    organization: "acme",
    type: "order.created",
    data: { total: 1 },
    dedupe_key: key,
  };
  return call(`${operatorUrl}/api/v1/admin/events`, {
    ...{ method: "POST", token: ADMIN_TOKEN, body: event },
  });
}

/** Publishes events one after the other, each until it is accepted. */
export function publishSteadily(program: Served) {
  const ids = new Set<string>();
  const accepted = new Arrivals<string>();
  const refused = new Arrivals<string>();
  let where = program;
  const load = { isOver: false };
  const goesOn = () => !load.isOver;
  const ended = (async () => {
    for (let i = 0; goesOn(); i++) {
      for (let isPublished = false; !isPublished && goesOn();) {
        const { status, body, headers } = await publish(where, `k-${i}`);
        isPublished = status < 300;
        if (isPublished) {
          ids.add(String(body["event_id"]));
          accepted.add(String(body["event_id"]));
        } else {
          refused.add(`k-${i}`);
          assert.equal(status, 503, JSON.stringify(body));
          assert.match(headers.get("retry-after") ?? "", /^[1-9]/);
        }
      }
    }
  })();
  return {
    ids,
    accepted,
    refused,
    goOnAt: (next: Served) => void (where = next),
    stop: async () => {
      load.isOver = true;
      await ended;
    },
  };
}

/** Waits until the receiver has every event. Returns the number of deliveries that arrived more than once. */
export async function arrived(
  receiver: Awaited<ReturnType<typeof startLocalReceiver>>,
  ids: Set<string>,
) {
  const times = new Map<string, number>();
  for (const id of ids) times.set(id, 0);
  while ([...times.values()].some((count) => count === 0)) {
    const id = eventIdOf(await receiver.next());
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  return [...times.values()].filter((count) => count > 1).length;
}

/** Blocks copying into this table of the new place until the trigger is dropped. */
export async function hold(db: Database, table: string): Promise<void> {
  await migrate(db);
  await db.unsafe(`
    create function hold() returns trigger language plpgsql as $$ begin perform pg_sleep(300); return new; end $$;
    create trigger hold before insert on ${table} for each row execute function hold()`);
}

export async function untilHeld(db: Database): Promise<void> {
  for (let held = 0; held === 0;) {
    const rows = await db`select from pg_stat_activity where wait_event = 'PgSleep'`;
    held = rows.length;
  }
}
