import { after } from "../../lib/clock.ts";
import { publicId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import { GONE_KEPT_MS, processStateAt } from "./rules.ts";
import { type KnownProcess, listProcesses } from "./sql.ts";

/** A process of the service, as it last reported itself. */
export type ProcessView = ReturnType<typeof viewProcess>;

export function viewProcess(one: KnownProcess, now: Date) {
  return {
    id: publicId("prc", one.id),
    role: one.role,
    version: one.version,
    host: one.host,
    pid: one.pid,
    started_at: one.startedAt.toISOString(),
    last_seen_at: one.lastSeenAt.toISOString(),
    state: processStateAt(now, one),
    attempts_under_way: one.attemptsUnderWay,
    slots: one.slots,
    last_recorded_at: one.lastRecordedAt?.toISOString() ?? null,
    organizations: one.organizations,
    slowed: one.slowed.map(({ id, limit }) => ({ subscription: publicId("wh", id), limit })),
  };
}

type Deps = Pick<Dependencies, "db" | "clock">;

/** Returns the running processes, and those that were last seen within a day. */
export function listKnownProcesses({ db, clock }: Deps): Promise<KnownProcess[]> {
  return listProcesses(db, after(clock(), -GONE_KEPT_MS));
}

export async function viewProcesses(deps: Deps): Promise<{ items: ProcessView[] }> {
  const processes = await listKnownProcesses(deps);
  return { items: processes.map((one) => viewProcess(one, deps.clock())) };
}
