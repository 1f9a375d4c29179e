import { once } from "node:events";
import { closeSync } from "node:fs";
import { createInterface } from "node:readline";
import { become } from "../account.ts";
import type { Job, Report, ServeJob } from "../keeper-process.ts";
import { attach, emptyHome } from "./attachment.ts";
import { listProc, readProc } from "./processes.ts";

// The program of the keeper. It is loaded with its parent's rights, and works with those of the home's account.

const TEXT_MAX = 1_000;
const CLOSED_AT_EXEC = 0o2000000;

const requests = createInterface({ input: process.stdin });
requests.once("close", () => process.exit(1)); // Our parent has ended. The next process takes over the server.
process.stdout.on("error", () => process.exit(1));
// After a signal to the whole group, our parent tells us to stop.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);

const [line] = (await once(requests, "line")) as [string];
const job = JSON.parse(line) as Job;
try {
  closeInherited();
  if (job.account) become(job.account);
  process.umask(0o077);
  process.chdir(job.folder);
  await (job.task === "remove" ? emptyHome(job.folder) : serve(job));
  process.exit(0);
} catch (error) {
  await report({ kind: "failed", text: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}

async function serve(job: ServeJob): Promise<void> {
  const { socketFolder, detach } = await attach(job, (text) => void report({ kind: "note", text }));
  await report({ kind: "serving", socketFolder });
  await once(requests, "line");
  await detach();
}

/**
 * Closes the descriptors that our parent inherited. Node.js passes on descriptors that it did not open. Its own are closed at exec.
 */
function closeInherited(): void {
  for (const fd of listProc("self/fd")) {
    const [, flags] = /^flags:\s+(\d+)$/m.exec(readProc(`self/fdinfo/${fd}`) ?? "") ?? [];
    if (fd > 2 && flags && (Number.parseInt(flags, 8) & CLOSED_AT_EXEC) === 0) closeSync(fd);
  }
}

async function report(report: Report): Promise<void> {
  const short = "text" in report ? { ...report, text: report.text.slice(0, TEXT_MAX) } : report;
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(short)}\n`, resolve));
}
