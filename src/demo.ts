import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, loadConfig } from "./config.ts";
import { createClient } from "./demo/client.ts";
import { Story } from "./demo/story.ts";
import { verdicts } from "./demo/verifiers.ts";
import { systemClock } from "./domain/clock.ts";
import { start } from "./main.ts";
import { homeFolder } from "./postgres/embedded.ts";
import { makeLocalCertificates } from "./receiver/certificates.ts";
import { type Received, startReceiver } from "./receiver/receiver.ts";
import { Arrivals } from "./receiver/arrivals.ts";

const ADMIN_TOKEN = "demo-only-token-of-the-operator-0000";
const ARRIVAL_TIMEOUT_MS = 20_000;

interface Failures {
  items: Record<string, string | number | null>[];
}

/**
 * Shows the main job from end to end: the real service, its own PostgreSQL, a receiver, and nothing left behind,
 * also when `stop` tells it to end early.
 */
export async function demo(write: (text: string) => void, stop: AbortSignal): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-demo-"));
  try {
    await tell(new Story(write, stop), folder, stop);
  } finally {
    await rm(homeFolder(dataDirIn(folder)), { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

function dataDirIn(folder: string): string {
  return join(folder, "data");
}

async function tell(story: Story, folder: string, stop: AbortSignal): Promise<void> {
  const certificates = await makeLocalCertificates(systemClock());
  const arrivals = new Arrivals<Received>(ARRIVAL_TIMEOUT_MS);
  let status = 204;
  const receiver = await startReceiver(certificates, (delivery) => {
    arrivals.add(delivery);
    return { status, delayMs: 0 };
  });
  await writeFile(join(folder, "ca.pem"), certificates.ca);
  const service = await start(demoConfig(folder));

  try {
    story.chapter("The service is ready, on a PostgreSQL of its own");
    story.fact("partners", service.partnerUrl);
    story.fact("operators", service.operatorUrl);

    story.chapter("An operator makes an organization and a key");
    const operator = createClient(`${service.operatorUrl}/api/v1/admin`, ADMIN_TOKEN);
    const organization = await operator<{ id: string }>("POST", "/organizations", { slug: "acme" });
    const { token } = await operator<{ token: string }>("POST", "/keys", {
      organization: organization.id,
      scopes: ["webhooks:manage"],
    });
    story.fact("organization", organization.id);
    story.fact("key, shown once", token);

    story.chapter("The partner learns who it is, and subscribes a URL");
    const partner = createClient(`${service.partnerUrl ?? ""}/api/v1/partner`, token);
    story.fact("GET /me", JSON.stringify(await partner("GET", "/me")));
    const subscription = await partner<{ id: string; url: string; secret: string }>(
      "POST",
      "/webhooks",
      { url: receiver.url, events: ["vc.test.ping"] },
    );
    story.fact("subscription", `${subscription.id} → ${subscription.url}`);
    story.fact("secret, shown once", subscription.secret);

    story.chapter("A ping is accepted, delivered and verified");
    const ping = () =>
      partner<{ event_id: string }>("POST", `/webhooks/${subscription.id}/test`, {
        secret: subscription.secret,
      });
    story.fact("accepted", (await ping()).event_id);
    const first = await arrivals.next(stop);
    tellDelivery(story, first);
    for (const verdict of await verdicts(first, subscription.secret)) story.fact(...verdict);

    story.chapter("The receiver refuses one: it is retried, and the audit shows it");
    status = 503;
    story.fact("accepted", (await ping()).event_id);
    const refused = await arrivals.next(stop);
    status = 204;
    story.fact("refused with 503", timestampOf(refused));
    const retried = await arrivals.next(stop);
    story.fact("retried, accepted", timestampOf(retried));
    story.fact("same bytes", refused.body.equals(retried.body));
    for (const verdict of await verdicts(retried, subscription.secret)) story.fact(...verdict);
    const failures = await partner<Failures>("GET", `/webhooks/${subscription.id}/failures`);
    for (const [name, value] of Object.entries(failures.items[0] ?? {})) story.fact(name, value);
  } finally {
    await service.stop();
    await receiver.close();
  }
}

function tellDelivery(story: Story, { headers, body }: Received): void {
  for (const [name, value] of Object.entries(headers)) {
    if (/^(x-vc|webhook|content-type|user-agent)/.test(name)) story.fact(name, String(value));
  }
  story.fact("body", body.toString("utf8"));
}

function timestampOf({ headers }: Received): string {
  return new Date(Number(headers["x-vc-timestamp"])).toISOString();
}

/** A service for this machine alone, with short delays. Nothing of the caller's environment reaches it. */
function demoConfig(folder: string): Config {
  return loadConfig({
    DATA_DIR: dataDirIn(folder),
    PORT: "0",
    OPERATOR_PORT: "0",
    ADMIN_TOKEN,
    EGRESS_ALLOW: "127.0.0.1/32,::1/128",
    EGRESS_CA_FILE: join(folder, "ca.pem"),
    RETRY_DELAYS: "1s,2s,3s",
    LOG_LEVEL: "silent",
  });
}
