import { publicId } from "../../domain/ids.ts";
import { processStateAt } from "../../domain/process.ts";
import type { KnownProcess } from "../../postgres/processes.ts";

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
