import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Database } from "../../src/postgres/database.ts";
import type { Subscription } from "./partners.ts";
import { requestText } from "./requests.ts";

export const TOKEN = "bench-token-of-more-than-thirty-two-letters";
export const EVENT_TYPES = fileURLToPath(new URL("../../../examples/event-types", import.meta.url));

/** The settings of a service to which a service of the platform may publish. */
export const PUBLISHER = { ADMIN_TOKEN: `shop/publish:${TOKEN}`, EVENT_TYPES };

/** An event of the type in `examples/event-types`. */
export const ORDER = {
  type: "order.created",
  data: { order_id: "ord_1042", total: 1_999, currency: "EUR", lines: [] },
};

export async function subscribeToOrders(db: Database): Promise<void> {
  await db`update subscriptions set events = ${["vc.test.ping", ORDER.type]}`;
}

/** A raw request that publishes one event to the organization of each subscription. */
export function publishRequests(subscriptions: readonly Subscription[], token = TOKEN): string[] {
  return subscriptions.map((one) => publishing(eventFor(one), token));
}

/** A raw request that publishes a batch: one event to the organization of each subscription. */
export function batchRequest(subscriptions: readonly Subscription[]): string {
  return publishing({ events: subscriptions.map(eventFor) });
}

/** Raw requests that publish such batches. Each event has a dedupe key of its own. */
export function keyedBatches(subscriptions: readonly Subscription[], count: number): string[] {
  return Array.from({ length: count }, () => {
    const batch = randomUUID();
    const keyed = subscriptions.map((one, i) => ({
      ...eventFor(one),
      dedupe_key: `${batch}/${i}`,
    }));
    return publishing({ events: keyed });
  });
}

function eventFor({ partner }: Subscription) {
  return { organization: `org_${partner.organizationId}`, ...ORDER };
}

function publishing(body: object, token = TOKEN): string {
  return requestText("POST /api/v1/admin/events HTTP/1.1", token, JSON.stringify(body));
}
