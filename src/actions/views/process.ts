import { publicId } from "../../domain/ids.ts";
import { type ProcessRole, type ProcessState, processStateAt } from "../../domain/process.ts";
import type { KnownProcess } from "../../postgres/processes.ts";

/** A process of the service, as it last reported itself. */
export interface ProcessView {
  id: string;
  role: ProcessRole;
  version: string;
  host: string;
  pid: number;
  started_at: string;
  last_seen_at: string;
  state: ProcessState;
  attempts_under_way: number;
  /** The most attempts at once. Null if it delivers nothing, or is of a release that does not report it. */
  slots: number | null;
  /** When it last recorded an outcome. Null if it has recorded none. */
  last_recorded_at: string | null;
  organizations: { slug: string; slots: number }[];
  slowed: { subscription: string; limit: number }[];
}

export function viewProcess(one: KnownProcess, now: Date): ProcessView {
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
