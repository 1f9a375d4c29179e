import { openSync } from "node:fs";
import { Egress, parseCidr } from "../../src/egress/index.ts";

/** A program that uses up its file descriptors, posts once and prints the outcome. */
const egress = new Egress({
  policy: { allow: [parseCidr("127.0.0.2/32")].filter((block) => block !== null), deny: [] },
});

useUpDescriptors();
const post = { url: "https://127.0.0.2/", headers: {}, body: Buffer.from("{}"), timeoutMs: 5_000 };
process.stdout.write(JSON.stringify(await egress.post(post)));

function useUpDescriptors(): void {
  try {
    for (;;) openSync("/dev/null", "r");
  } catch {
    // No descriptor is left.
  }
}
