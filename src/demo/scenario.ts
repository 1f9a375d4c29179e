import type { Received } from "../receiver/receiver.ts";
import { createClient } from "./client.ts";
import type { Story } from "./story.ts";
import { verdicts } from "./verifiers.ts";

type Delivery = Pick<Received, "headers" | "body">;

/** Where the story plays: a running service and a receiver that it can reach. */
export interface Stage {
  partnerUrl: string;
  operatorUrl: string;
  operatorToken: string;
  receiverUrl: string;
  nextArrival: () => Promise<Delivery>;
  /** What the receiver answers from now on. */
  answerWith: (status: number) => void;
}

interface Failures {
  items: Record<string, string | number | null>[];
}

/** The main job from end to end: organization and key, subscription, a ping that is delivered, one that is refused first. */
export async function tell(story: Story, stage: Stage): Promise<void> {
  story.chapter("An operator makes an organization and a key");
  const operator = createClient(`${stage.operatorUrl}/api/v1/admin`, stage.operatorToken);
  const organization = await operator<{ id: string }>("POST", "/organizations", { slug: "acme" });
  const { token } = await operator<{ token: string }>("POST", "/keys", {
    organization: organization.id,
    scopes: ["webhooks:manage"],
  });
  story.fact("organization", organization.id);
  story.fact("key, shown once", token);

  story.chapter("The partner learns who it is, and subscribes a URL");
  const partner = createClient(`${stage.partnerUrl}/api/v1/partner`, token);
  story.fact("GET /me", JSON.stringify(await partner("GET", "/me")));
  const subscription = await partner<{ id: string; url: string; secret: string }>(
    "POST",
    "/webhooks",
    { url: stage.receiverUrl, events: ["vc.test.ping"] },
  );
  story.fact("subscription", `${subscription.id} → ${subscription.url}`);
  story.fact("secret, shown once", subscription.secret);

  story.chapter("A ping is accepted, delivered and verified");
  const ping = () =>
    partner<{ event_id: string }>("POST", `/webhooks/${subscription.id}/test`, {
      secret: subscription.secret,
    });
  story.fact("accepted", (await ping()).event_id);
  const first = await stage.nextArrival();
  tellDelivery(story, first);
  for (const verdict of await verdicts(first, subscription.secret)) story.fact(...verdict);

  story.chapter("The receiver refuses one: it is retried, and the audit shows it");
  stage.answerWith(503);
  story.fact("accepted", (await ping()).event_id);
  const refused = await stage.nextArrival();
  stage.answerWith(204);
  story.fact("refused with 503", timestampOf(refused));
  const retried = await stage.nextArrival();
  story.fact("retried, accepted", timestampOf(retried));
  story.fact("same bytes", refused.body.equals(retried.body));
  for (const verdict of await verdicts(retried, subscription.secret)) story.fact(...verdict);
  const failures = await partner<Failures>("GET", `/webhooks/${subscription.id}/failures`);
  for (const [name, value] of Object.entries(failures.items[0] ?? {})) story.fact(name, value);
}

function tellDelivery(story: Story, { headers, body }: Delivery): void {
  for (const [name, value] of Object.entries(headers)) {
    if (/^(x-vc|webhook|content-type|user-agent)/.test(name)) story.fact(name, String(value));
  }
  story.fact("body", body.toString("utf8"));
}

function timestampOf({ headers }: Delivery): string {
  return new Date(Number(headers["x-vc-timestamp"])).toISOString();
}
