import { after } from "../domain/clock.ts";
import { GONE_KEPT_MS } from "../domain/process.ts";
import { listProcesses, type KnownProcess } from "../postgres/processes.ts";
import type { Dependencies } from "./dependencies.ts";
import { type ProcessView, viewProcess } from "./views/process.ts";

type Deps = Pick<Dependencies, "db" | "clock">;

/** Returns the running processes, and those that were last seen within a day. */
export function listKnownProcesses({ db, clock }: Deps): Promise<KnownProcess[]> {
  return listProcesses(db, after(clock(), -GONE_KEPT_MS));
}

export async function viewProcesses(deps: Deps): Promise<{ items: ProcessView[] }> {
  const processes = await listKnownProcesses(deps);
  return { items: processes.map((one) => viewProcess(one, deps.clock())) };
}
