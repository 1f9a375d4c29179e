import { randomBytes } from "node:crypto";
import { mkdtemp, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Config, loadConfig } from "./config.ts";
import { Transcript } from "./demo/transcript.ts";
import { runScenario } from "./demo/scenario.ts";
import { systemClock } from "./domain/clock.ts";
import { start } from "./main.ts";
import { removeEmbedded } from "./builtin/index.ts";
import { becomeOwner } from "./wiring/become-owner.ts";
import { findFolderOwner } from "./wiring/folder-owner.ts";
import { makeLocalCertificates } from "./receiver/certificates.ts";
import { type Received, startReceiver } from "./receiver/receiver.ts";
import { Arrivals } from "./demo/arrivals.ts";

/** Code that a platform would write itself. */
const EXAMPLE_TYPES = new URL("../../examples/event-types/", import.meta.url);
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
