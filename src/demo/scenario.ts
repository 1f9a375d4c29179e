import type { Received } from "../receiver/receiver.ts";
import { createClient } from "./client.ts";
import type { Transcript } from "./transcript.ts";
import { verdicts } from "./verifiers.ts";

type Delivery = Pick<Received, "headers" | "body">;

/** A running service and a receiver that it can reach. */
export interface DemoSetup {
  partnerUrl: string;
  operatorUrl: string;
  operatorToken: string;
  receiverUrl: string;
  nextArrival: () => Promise<Delivery>;
  /** Sets the status of the next responses. */
  answerWith: (status: number) => void;
}

interface Failures {
  items: Record<string, string | number | null>[];
}

/**
 * Runs the demo: an organization and a key, a subscription, a delivered event, an event that is
 * refused first, and an event of the platform's own.
 */
export async function runScenario(transcript: Transcript, setup: DemoSetup): Promise<void> {
  transcript.step("An operator creates an organization and a key");
  const operator = createClient(`${setup.operatorUrl}/api/v1/admin`, setup.operatorToken);
  const organization = await operator<{ id: string }>("POST", "/organizations", { slug: "acme" });
  const { token } = await operator<{ token: string }>("POST", "/keys", {
    organization: organization.id,
    scopes: ["webhooks:manage"],
  });
  transcript.field("organization", organization.id);
  transcript.field("key, shown once", token);

  transcript.step("The partner checks its key and subscribes a URL");
  const partner = createClient(`${setup.partnerUrl}/api/v1/partner`, token);
  transcript.field("GET /me", JSON.stringify(await partner("GET", "/me")));
  const subscription = await partner<{
    id: string;
    url: string;
    events: string[];
    secret: string;
  }>("POST", "/webhooks", { url: setup.receiverUrl, events: ["vc.test.ping", "order.created"] });
  transcript.field("subscription", `${subscription.id} → ${subscription.url}`);
  transcript.field("events", subscription.events.join(", "));
  transcript.field("secret, shown once", subscription.secret);

  transcript.step("A test event is delivered and verified");
  const ping = () =>
    partner<{ event_id: string }>("POST", `/webhooks/${subscription.id}/test`, {
      secret: subscription.secret,
    });
  transcript.field("accepted", (await ping()).event_id);
  const first = await setup.nextArrival();
  showDelivery(transcript, first);
  for (const verdict of await verdicts(first, subscription.secret)) transcript.field(...verdict);

  transcript.step("The receiver refuses an event. It is retried and shown in the audit");
  setup.answerWith(503);
  transcript.field("accepted", (await ping()).event_id);
  const refused = await setup.nextArrival();
  setup.answerWith(204);
  transcript.field("refused with 503", timestampOf(refused));
  const retried = await setup.nextArrival();
  transcript.field("retried, accepted", timestampOf(retried));
  transcript.field("same bytes", refused.body.equals(retried.body));
  for (const verdict of await verdicts(retried, subscription.secret)) transcript.field(...verdict);
  const failures = await partner<Failures>("GET", `/webhooks/${subscription.id}/failures`);
  for (const [name, value] of Object.entries(failures.items[0] ?? {}))
    transcript.field(name, value);

  transcript.step("The platform publishes an event of its own");
  const published = await operator<{ event_id: string }>("POST", "/events", {
    organization: "acme",
    type: "order.created",
    data: { order_id: "ord_1042", total: 4200, currency: "EUR" },
    dedupe_key: "order-1042",
  });
  transcript.field("accepted", published.event_id);
  const order = await setup.nextArrival();
  showDelivery(transcript, order);
  for (const verdict of await verdicts(order, subscription.secret)) transcript.field(...verdict);
}

function showDelivery(transcript: Transcript, { headers, body }: Delivery): void {
  for (const [name, value] of Object.entries(headers)) {
    if (/^(x-vc|webhook|content-type|user-agent)/.test(name)) transcript.field(name, String(value));
  }
  transcript.field("body", body.toString("utf8"));
}

function timestampOf({ headers }: Delivery): string {
  return new Date(Number(headers["x-vc-timestamp"])).toISOString();
}
