import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";

/**
 * The source files that run with root's rights and use files, programs or signals. SECURITY.md lists each operation:
 * extend both together.
 */
const SERVICE = [
  "bridge/main.ts",
  "builtin/account.ts",
  "builtin/binaries.ts",
  "builtin/home.ts",
  "builtin/index.ts",
  "builtin/keeper-process.ts",
  "builtin/presence.ts",
  "egress/dial.ts",
  "event-types/folder.ts",
  "event-types/libraries/generate.ts",
  "http/docs/desk.ts",
  "http/docs/site.ts",
  "jobs/history-exports.ts",
  "lib/kept.ts",
  "lib/owner.ts",
  "lib/product.ts",
  "observe/metrics.ts",
  "observe/tracing.ts",
  "postgres/driver/url.ts",
  "schema/migrate.ts",
  "start/egress.ts",
  "start/workers.ts",
  "subjects/events/commands.ts",
  "workers/supervisor.ts",
];

/** Those of `demo` and `listen`, which are for developers and no part of a service. */
const FOR_DEVELOPERS = [
  "listen/certificates.ts",
  "listen/foreground.ts",
  "listen/replay.ts",
  "start/demo.ts",
];

/** The keeper has given up root's rights. */
const APART = "builtin/keeper/";

const USE = /"node:(fs|fs\/promises|child_process)"|\bprocess\.kill\b/;

test("no other source file uses files, programs or signals with root's rights", async () => {
  const folder = join(ROOT, "src");
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const users: string[] = [];
  for (const name of names) {
    if (name.startsWith(APART)) continue;
    if (USE.test(await readFile(join(folder, name), "utf8"))) users.push(name);
  }
  assert.deepEqual(users.toSorted(), [...SERVICE, ...FOR_DEVELOPERS].toSorted());
});
