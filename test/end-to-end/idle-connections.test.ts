import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { type Program, startProgram } from "../support/program.ts";
import { aPartner, aRig } from "../support/rig.ts";

/** `npm run test:crowd` opens ten thousand. */
const CONNECTIONS = Number(process.env["IDLE_CONNECTIONS"] ?? 600);

/** A socket, its parser and its timers, with some reserve. */
const KILOBYTES_EACH = 40;
const KILOBYTES_ANYWAY = 40_000;
const REQUESTS = 200;

test(`${CONNECTIONS} idle connections need little memory and do not slow down callers`, async (t) => {
  const program = await startProgram(t, await aRig(t));
  const { ask } = await aPartner(program, "acme");
  await serve(ask); // Makes everything that is made once.
  const before = await kilobytesOf(program);

  const crowd = fork(CROWD, [new URL(program.partnerUrl).port, String(CONNECTIONS)]);
  t.after(() => crowd.kill("SIGKILL"));
  assert.equal(await wordOf(crowd), "open");
  await serve(ask);
  const during = await kilobytesOf(program);

  const bound = KILOBYTES_ANYWAY + KILOBYTES_EACH * CONNECTIONS;
  assert.ok(during - before < bound, `${during} kB, and ${before} kB before`);
  await report(t, { before, during, program, crowd });
});

const CROWD = new URL("../support/idle-clients.js", import.meta.url);

async function serve(ask: Awaited<ReturnType<typeof aPartner>>["ask"]): Promise<void> {
  for (let i = 0; i < REQUESTS; i += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask("/me")));
    for (const { status } of answers) assert.equal(status, 200);
  }
}

/** The figures. A full run also checks that clients with incomplete requests are disconnected. */
async function report(
  t: TestContext,
  seen: { before: number; during: number; program: Program; crowd: ChildProcess },
): Promise<void> {
  const { before, during, program, crowd } = seen;
  const each = ((during - before) / CONNECTIONS).toFixed(1);
  t.diagnostic(
    `${before} kB before, ${during} kB with ${CONNECTIONS} connections: ${each} kB each`,
  );
  if (process.env["IDLE_CONNECTIONS"] === undefined) return;

  const since = performance.now();
  assert.equal(await wordOf(crowd), "closed");
  const seconds = Math.round((performance.now() - since) / 1000);
  t.diagnostic(`unfinished ones gone ${seconds} s later, ${await kilobytesOf(program)} kB`);
}

async function wordOf(crowd: ChildProcess): Promise<unknown> {
  const [word] = (await once(crowd, "message")) as unknown[];
  return word;
}

/** The resident size of a process, or 0 if the system does not show it. */
async function kilobytesOf({ process: { pid } }: Program): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
}
