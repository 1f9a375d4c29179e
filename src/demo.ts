import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, loadConfig } from "./config.ts";
import { Story } from "./demo/story.ts";
import { tell } from "./demo/tell.ts";
import { systemClock } from "./domain/clock.ts";
import { start } from "./main.ts";
import { homeFolder } from "./postgres/embedded.ts";
import { makeLocalCertificates } from "./receiver/certificates.ts";
import { type Received, startReceiver } from "./receiver/receiver.ts";
import { Arrivals } from "./demo/arrivals.ts";

const ADMIN_TOKEN = "demo-only-token-of-the-operator-0000";
const ARRIVAL_TIMEOUT_MS = 20_000;

/**
 * Shows the main job from end to end: the real service, its own PostgreSQL, a receiver, and nothing left behind,
 * also when `stop` tells it to end early.
 */
export async function demo(write: (text: string) => void, stop: AbortSignal): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-demo-"));
  try {
    await perform(new Story(write, stop), folder, stop);
  } finally {
    await rm(homeFolder(dataDirIn(folder)), { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

function dataDirIn(folder: string): string {
  return join(folder, "data");
}

async function perform(story: Story, folder: string, stop: AbortSignal): Promise<void> {
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
    await tell(story, {
      partnerUrl: service.partnerUrl ?? "",
      operatorUrl: service.operatorUrl,
      operatorToken: ADMIN_TOKEN,
      receiverUrl: receiver.url,
      nextArrival: () => arrivals.next(stop),
      answerWith: (next) => (status = next),
    });
  } finally {
    await service.stop();
    await receiver.close();
  }
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
