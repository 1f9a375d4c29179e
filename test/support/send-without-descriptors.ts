import { openSync } from "node:fs";
import { createSender } from "../../src/egress/sender.ts";

/** A program that uses up its file descriptors, makes one attempt and prints the outcome. */
const destination = {
  url: "https://127.0.0.2/",
  host: "127.0.0.2",
  port: 443,
  path: "/",
  hostHeader: "127.0.0.2",
  address: "127.0.0.2",
};
const sender = createSender({
  check: () => Promise.resolve({ ok: true, destination, addresses: ["127.0.0.2"] }),
  clock: () => new Date(),
  timeoutMs: 5_000,
  userAgent: "partner-api/1.0.0",
  extraCa: undefined,
  maxConnections: 10,
});

useUpDescriptors();
const post = {
  url: destination.url,
  eventId: "evt_1",
  signingSecret: "whsec_eA",
  attempt: 1,
  body: Buffer.from("{}"),
};
process.stdout.write(JSON.stringify(await sender.send(post)));

function useUpDescriptors(): void {
  try {
    for (;;) openSync("/dev/null", "r");
  } catch {
    // No descriptor is left.
  }
}
