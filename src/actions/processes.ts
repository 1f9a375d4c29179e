import { after } from "../domain/clock.ts";
import { GONE_KEPT_MS, ORGANIZATIONS_REPORTED } from "../domain/process.ts";
import { groupBy } from "../lib/group-by.ts";
import { listProcesses, type KnownProcess } from "../postgres/processes.ts";
import type { Dependencies } from "./dependencies.ts";
import { everywhere, lacking } from "./everywhere.ts";
import type { Shards } from "./shards.ts";
import { type ProcessView, viewProcess } from "./views/process.ts";

type Deps = Pick<Dependencies, "db" | "clock">;

/** Returns the running processes, and those that were last seen within a day. */
export function listKnownProcesses({ db, clock }: Deps): Promise<KnownProcess[]> {
  return listProcesses(db, after(clock(), -GONE_KEPT_MS));
}

export async function viewProcesses(
  shards: Shards,
): Promise<{ items: ProcessView[]; unavailable_shards?: string[] }> {
  const { values, away } = await everywhere(shards, listKnownProcesses);
  const processes = mergeProcesses(values);
  return lacking(away, { items: processes.map((one) => viewProcess(one, shards.clock())) });
}

/** A process reports itself to every shard. Each knows the slugs of its own organizations only. */
export function mergeProcesses(lists: KnownProcess[][]): KnownProcess[] {
  const [only, ...others] = lists;
  if (only && others.length === 0) return only;
  const merged = [...groupBy(lists.flat(), ({ id }) => id).values()].flatMap((reports) => {
    const [latest] = reports.toSorted((a, b) => b.lastSeenAt.getTime() - a.lastSeenAt.getTime());
    const organizations = reports
      .flatMap((report) => report.organizations)
      .sort((a, b) => b.slots - a.slots)
      .slice(0, ORGANIZATIONS_REPORTED);
    return latest ? [{ ...latest, organizations }] : [];
  });
  return merged.sort((a, b) => b.startedAt.getTime() - a.startedAt.getTime());
}
