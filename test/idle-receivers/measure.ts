// Measures how long receivers keep idle connections by default: `node dist/test/idle-receivers/measure.js [name …]`. Takes six minutes.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testAuthority } from "../support/certificates.ts";
import { watchIdle } from "./idle-end.ts";
import { startReceivers } from "./receivers.ts";

const LIMIT_MS = 310_000;

const folder = await mkdtemp(join(tmpdir(), "idle-receivers-"));
const ends: (() => Promise<void>)[] = [];
const scope = { after: (end: () => Promise<void>) => void ends.push(end) };
const { cert: ca } = await testAuthority();
const { receivers, missing } = await startReceivers(scope, folder, {
  names: process.argv.slice(2),
});
for (const { name, why } of missing) console.log(`${name}: ${why}`);
await Promise.all(
  receivers.map(async (receiver) => {
    const { seconds, announced, signs } = await watchIdle(receiver, ca, LIMIT_MS);
    console.log([receiver.name, seconds.toFixed(1), announced ?? "", signs].join(" | "));
  }),
);
await Promise.all(ends.map((end) => end()));
await rm(folder, { recursive: true });
