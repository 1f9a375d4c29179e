import { once } from "node:events";
import { createInterface } from "node:readline";
import { become } from "../become.ts";
import { type Job, type Report, TEXT_MAX } from "../protocol.ts";
import { attach } from "./attachment.ts";
import { closeInherited } from "./descriptors.ts";
import { emptyHome } from "./removal.ts";

// The program of the keeper. It is loaded with its parent's rights, and works with those of the home's account.

const requests = createInterface({ input: process.stdin });
requests.once("close", () => process.exit(1)); // Our parent has ended. The next process takes over the server.
process.stdout.on("error", () => process.exit(1));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, leaveToParent);

const [line] = (await once(requests, "line")) as [string];
const job = JSON.parse(line) as Job;
try {
  closeInherited();
  if (job.account) become(job.account);
  process.umask(0o077);
  process.chdir(job.folder);
  if (job.task === "remove") await emptyHome(job);
  else await serve();
  process.exit(0);
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  await report({ kind: "failed", text: text.slice(0, TEXT_MAX) });
  process.exit(1);
}

async function serve(): Promise<void> {
  if (job.task !== "serve") return;
  const note = (text: string) => void report({ kind: "note", text: text.slice(0, TEXT_MAX) });
  const attachment = await attach(job, note);
  await report({ kind: "serving", socketFolder: attachment.socketFolder });
  await once(requests, "line");
  await attachment.detach();
}

async function report(report: Report): Promise<void> {
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(report)}\n`, resolve));
}

/** After a signal to the whole group, our parent tells us to stop. */
function leaveToParent(): void {
  return;
}
