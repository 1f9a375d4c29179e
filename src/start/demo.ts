import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { removeEmbedded } from "../builtin/index.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { systemClock } from "../lib/clock.ts";
import { becomeOwner, findFolderOwner } from "../lib/owner.ts";
import { withTimeLimit } from "../lib/time-limit.ts";
import { type Received, startReceiver } from "../listen/receiver.ts";
import { makeLocalCertificates } from "../listen/self-signed.ts";
import { start } from "./main.ts";

/** A queue from a receiver to a waiting reader. */
class Arrivals<Item> {
  readonly #timeoutMs: number;
  readonly #items: Item[] = [];
  #wake: (() => void) | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** Removes and returns the oldest item. Throws if none arrives in time or if `stop` aborts. */
  async next(stop: AbortSignal): Promise<Item> {
    if (this.#items.length === 0) await this.#arrival(stop);
    stop.throwIfAborted();
    const item = this.#items.shift();
    if (item === undefined) throw new Error(`nothing arrived within ${this.#timeoutMs} ms`);
    return item;
  }

  async #arrival(stop: AbortSignal): Promise<void> {
    const waited = withTimeLimit(this.#timeoutMs, stop);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      waited.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#wake = undefined;
  }
}

/** A client of the API that throws for every response but 2xx. */
function createClient(baseUrl: string, token: string) {
  return async function call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  };
}

type Arrived = Pick<Received, "headers" | "body">;

/** The verdicts of independent verifiers. */
async function verdicts(delivery: Arrived, secret: string): Promise<[string, string][]> {
  return [
    ["standardwebhooks", await byStandardWebhooks(delivery, secret)],
    ["openssl", await byOpenssl(delivery, secret)],
  ];
}

async function byStandardWebhooks({ headers, body }: Arrived, secret: string): Promise<string> {
  try {
    const { Webhook } = await import("standardwebhooks");
    new Webhook(secret).verify(body.toString("utf8"), headers as Record<string, string>);
    return "signature valid";
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ERR_MODULE_NOT_FOUND" ? "not installed" : `signature NOT valid: ${message}`;
  }
}

async function byOpenssl({ headers, body }: Arrived, secret: string): Promise<string> {
  try {
    const run = promisify(execFile)("openssl", ["dgst", "-sha256", "-hmac", secret, "-r"]);
    run.child.stdin?.end(
      Buffer.concat([Buffer.from(`${String(headers["x-vc-timestamp"])}.`), body]),
    );
    const [digest] = (await run).stdout.split(" ");
    const isSame = headers["x-vc-signature"] === `sha256=${digest ?? ""}`;
    return isSame ? "signature valid" : "signature NOT valid";
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing ? "openssl is not installed" : `failed: ${(error as Error).message}`;
  }
}

type Delivery = Pick<Received, "headers" | "body">;

/** A running service and a receiver that it can reach. */
interface DemoSetup {
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

/** Prints numbered steps and their details. */
export class Transcript {
  readonly #write: (text: string) => void;
  readonly #stop: AbortSignal;
  #steps = 0;

  constructor(write: (text: string) => void, stop: AbortSignal) {
    this.#write = write;
    this.#stop = stop;
  }

  /** Starts a step. Throws if the demo was stopped. */
  step(title: string): void {
    this.#stop.throwIfAborted();
    this.#write(`\n${++this.#steps}. ${title}\n`);
  }

  field(name: string, value: string | number | boolean | null): void {
    this.#write(`   ${name.padEnd(22)} ${value}\n`);
  }
}

/** Code that a platform would write itself. */
const EXAMPLE_TYPES = new URL("../../../examples/event-types/", import.meta.url);
const ARRIVAL_TIMEOUT_MS = 20_000;

/**
 * Shows the service end to end: the real service, its own PostgreSQL and a receiver. Removes
 * everything afterwards, also after `stop`. In another user's TMPDIR, root becomes that user and remarks on it.
 */
export async function demo(
  { write, remark }: Record<"write" | "remark", (text: string) => void>,
  stop: AbortSignal,
): Promise<void> {
  await becomeOwner(tmpdir(), remark);
  const folder = await makeFolder();
  try {
    await perform(new Transcript(write, stop), folder, stop);
  } finally {
    await removeEmbedded(dataDirIn(folder));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Nobody else can change or replace the folder. */
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-demo-"));
  try {
    await findFolderOwner(folder);
    return folder;
  } catch (error) {
    await rmdir(folder);
    throw error;
  }
}

function dataDirIn(folder: string): string {
  return join(folder, "data");
}

async function perform(transcript: Transcript, folder: string, stop: AbortSignal): Promise<void> {
  const certificates = await makeLocalCertificates(systemClock());
  const arrivals = new Arrivals<Received>(ARRIVAL_TIMEOUT_MS);
  let status = 204;
  const receiver = await startReceiver(certificates, (delivery) => {
    arrivals.add(delivery);
    return { status, delayMs: 0 };
  });
  await writeFile(join(folder, "ca.pem"), certificates.ca);
  const operatorToken = randomBytes(32).toString("hex"); // Other users of this machine reach the listener.
  const service = await start(demoConfig(folder, operatorToken));

  try {
    transcript.step("The service is ready, with its own PostgreSQL");
    transcript.field("partners", service.partnerUrl);
    transcript.field("operators", service.operatorUrl);
    await runScenario(transcript, {
      partnerUrl: service.partnerUrl ?? "",
      operatorUrl: service.operatorUrl,
      operatorToken,
      receiverUrl: receiver.url,
      nextArrival: () => arrivals.next(stop),
      answerWith: (next) => (status = next),
    });
  } finally {
    await service.stop();
    await receiver.close();
  }
}

/** A service on the loopback interface with short delays. Ignores the caller's environment. */
function demoConfig(folder: string, operatorToken: string): Config {
  return loadConfig({
    DATA_DIR: dataDirIn(folder),
    PORT: "0",
    OPERATOR_PORT: "0",
    ADMIN_TOKEN: operatorToken,
    EVENT_TYPES: fileURLToPath(EXAMPLE_TYPES),
    EGRESS_ALLOW: "127.0.0.1/32,::1/128",
    EGRESS_CA_FILE: join(folder, "ca.pem"),
    RETRY_DELAYS: "1s,2s,3s",
    LOG_LEVEL: "silent",
  });
}
