import type { TestContext } from "node:test";
import type { Database } from "../../src/postgres/database.ts";
import { EVENTS, startPartnerApi, type TestKey } from "./partner-api.ts";

export const WEBHOOKS = "/api/v1/partner/webhooks";
export const WANTED = { url: "https://hooks.example.com/", events: EVENTS };

type Api = ReturnType<typeof startPartnerApi>;
export type Answer = Awaited<ReturnType<Api["inject"]>>;

/** Sends a request with this Idempotency-Key, or without one. */
export const post = (
  api: Api,
  { authorization }: Pick<TestKey, "authorization">,
  path: string,
  payload: object,
  key: string | null = null,
) =>
  api.inject({
    method: "POST",
    url: WEBHOOKS + path,
    headers: { authorization, ...(key === null ? {} : { "idempotency-key": key }) },
    payload,
  });

export const subscribe = (api: Api, caller: TestKey, key: string | null, wanted: object = WANTED) =>
  post(api, caller, "", wanted, key);

export const codeOf = (answer: Answer) => answer.json<{ code: string }>().code;
export const replayed = (answer: Answer) => answer.headers["idempotent-replayed"];

/** A caller that can have `max` subscriptions. */
export async function aCaller(t: TestContext, db: Database, max = 100) {
  const api = startPartnerApi(t, db, {
    rules: { retryDelaysMs: [1_000], autoDisableAfter: 20, maxSubscriptions: max, leaseMs: 30_000 },
  });
  const caller = await api.aKeyWith("webhooks:manage");
  const { organizationId } = caller;
  const number = db`(select number from organizations where id = ${organizationId})`;
  const count = async (table: string) => {
    const isOwn =
      table === "events"
        ? db`organization_number = ${number}`
        : db`organization_id = ${organizationId}`;
    return (await db`select from ${db(table)} where ${isOwn}`).length;
  };
  return { api, caller, count };
}
