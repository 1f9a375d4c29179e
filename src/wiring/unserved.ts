import { resolve } from "node:path";
import type { Dependencies } from "../actions/dependencies.ts";
import { listKnownProcesses } from "../actions/processes.ts";
import { processStateAt } from "../domain/process.ts";

/** Returns a warning if no service runs on the built-in database of a folder, because a command may be meant for another one. */
export async function warnOfUnserved(
  deps: Pick<Dependencies, "db" | "clock">,
  folder: string,
): Promise<string | null> {
  const processes = await listKnownProcesses(deps);
  if (processes.some((one) => processStateAt(deps.clock(), one) !== "gone")) return null;
  return (
    `no service runs on the built-in database of ${resolve(folder)}.\n` +
    "If you meant another database, set DATABASE_URL or DATA_DIR. For a running service, set PARTNER_API_URL"
  );
}
