import { setTimeout as sleep } from "node:timers/promises";
import { ADMIN_TOKEN, type Program } from "../support/program.ts";
import { call } from "../support/rig.ts";
import type { Plan } from "./plan.ts";
import { PUBLISHED_TYPE } from "./publishers.ts";
import { DOOMED_PATH, type Receivers } from "./receivers.ts";

export interface Subscription {
  id: string;
  secret: string;
  /** The key of its organization. */
  token: string;
}

export interface Partner {
  organization: string;
  subscriptions: Subscription[];
  /** A subscription that is deleted during the run. It does not get published events. */
  unwanted: Subscription;
}

const UNLIMITED = 1_000_000;
const AFTER_FAILURE_MS = 100;

/** Creates a partner with all subscriptions. The receiver of one of them refuses everything. */
export async function makePartner(
  { operatorUrl, partnerUrl }: Program,
  { subscriptions: count }: Plan,
  receivers: Receivers,
): Promise<Partner> {
  const admin = `${operatorUrl}/api/v1/admin`;
  const organization = "ledger";
  const wanted = { slug: organization, rate_limit_per_minute: UNLIMITED };
  await made(`${admin}/organizations`, ADMIN_TOKEN, wanted);
  const key = { organization, scopes: ["webhooks:manage"] };
  const token = String((await made(`${admin}/keys`, ADMIN_TOKEN, key))["token"]);

  const subscribe = async (path: string, type = "vc.test.ping"): Promise<Subscription> => {
    const wanted = { url: receivers.url(path), events: [type] };
    const body = await made(`${partnerUrl}/api/v1/partner/webhooks`, token, wanted);
    return { id: String(body["id"]), secret: String(body["secret"]), token };
  };
  const unwanted = await subscribe("/unwanted");
  const subscriptions = [unwanted, await subscribe(DOOMED_PATH)];
  while (subscriptions.length < count) {
    subscriptions.push(await subscribe(`/hooks/${subscriptions.length}`));
  }
  await subscribe("/orders", PUBLISHED_TYPE);
  return { organization, subscriptions, unwanted };
}

async function made(url: string, token: string, body: object): Promise<Record<string, unknown>> {
  const answer = await call(url, { method: "POST", token, body });
  if (answer.status !== 201) throw new Error(`${url} answered ${answer.status}`);
  return answer.body;
}

/** Deletes a subscription, with as many attempts as necessary. */
export async function unsubscribe(
  programOf: () => Promise<Program>,
  { unwanted: { id, token } }: Partner,
  signal: AbortSignal,
): Promise<void> {
  for (let status = 0; status !== 204 && status !== 404;) {
    signal.throwIfAborted();
    const { partnerUrl } = await programOf();
    const url = `${partnerUrl}/api/v1/partner/webhooks/${id}`;
    status = await call(url, { method: "DELETE", token }).then(
      (answer) => answer.status,
      () => 0, // The service was being killed.
    );
    if (status === 503) await sleep(AFTER_FAILURE_MS);
  }
}
