import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import { Shards } from "../../src/actions/shards.ts";
import type { App } from "../../src/http/app.ts";
import { buildPartnerApp } from "../../src/http/partner/app.ts";
import type { Database, Queryable } from "../../src/postgres/database.ts";
import { createDatabase } from "../support/database.ts";
import { BASE_URL, EVENTS, startPartnerApi, type TestKey } from "../support/partner-api.ts";

/** A database that notes the texts of its statements. */
function noted<Db extends Queryable>(db: Db, texts: string[]): Db {
  return new Proxy(db, {
    apply: (target, self, args: unknown[]) => {
      if (Array.isArray(args[0]) && "raw" in args[0]) texts.push(args[0].join("?"));
      return Reflect.apply(target, self, args) as unknown;
    },
    get: (target, name) => {
      const own = Reflect.get(target, name) as unknown;
      const of = own as (...args: unknown[]) => Database;
      if (name === "within" || name === "of") return (arg: unknown) => noted(of(arg), texts);
      if (name !== "begin") return own;
      return (work: (tx: Queryable) => unknown) => of((tx: Queryable) => work(noted(tx, texts)));
    },
  });
}

async function aShard(t: TestContext, shard: string) {
  const texts: string[] = [];
  const db = noted(await createDatabase({ max: 2 }), texts);
  return { ...startPartnerApi(t, db, { shard }), texts };
}

test("a partner's request runs only in its own shard, with the statements of a service with one shard", async (t) => {
  const [home, other] = [await aShard(t, "00"), await aShard(t, "01")];
  const key = await other.aKeyWith("webhooks:manage");
  const all = [home, other].map(({ deps }) => ({ name: deps.shard, deps }));
  const app = buildPartnerApp(new Shards(all as never, home.deps), {
    logger: pino({ level: "silent" }),
    baseUrl: () => BASE_URL,
    health: { ready: () => Promise.resolve([{ name: "database", ok: true }]) },
  });
  t.after(() => app.close());

  const statementsOf = async (of: typeof app) => {
    other.texts.length = home.texts.length = 0;
    await useEachRoute(of, key);
    return [...other.texts];
  };
  await statementsOf(app); // The first request of an organization creates its rate window.
  const ofTwo = await statementsOf(app);
  assert.deepEqual(home.texts, []);
  assert.deepEqual(ofTwo, await statementsOf(other.app));
  assert.ok(ofTwo.length >= 6, "each request is admitted by a statement");
});

async function useEachRoute(app: App, { authorization }: TestKey): Promise<void> {
  const ask = async (method: "GET" | "POST" | "DELETE", path: string, payload?: object) => {
    const url = `/api/v1/partner${path}`;
    const headers = { authorization };
    const answer = await app.inject({ method, url, headers, ...(payload && { payload }) });
    assert.ok(answer.statusCode < 300, answer.body);
    return answer.body === "" ? {} : answer.json<{ id: string; secret: string }>();
  };
  await ask("GET", "/me");
  const made = await ask("POST", "/webhooks", {
    url: "https://hooks.example.com/",
    events: EVENTS,
  });
  const { id, secret } = made as { id: string; secret: string };
  await ask("GET", "/webhooks");
  await ask("POST", `/webhooks/${id}/test`, { secret });
  await ask("GET", `/webhooks/${id}/failures`);
  await ask("DELETE", `/webhooks/${id}`);
}
