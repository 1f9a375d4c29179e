import { publicId } from "../../domain/ids.ts";
import { type ProcessRole, type ProcessState, processStateAt } from "../../domain/process.ts";
import type { ProcessRow } from "../../postgres/processes.ts";

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
  /** When it last recorded an outcome. Null if it has recorded none. */
  last_recorded_at: string | null;
  organizations: { slug: string; slots: number }[];
  slowed: { subscription: string; limit: number }[];
}

export function viewProcess(row: ProcessRow, now: Date): ProcessView {
  return {
    id: publicId("prc", row.id),
    role: row.role,
    version: row.version,
    host: row.host,
    pid: row.pid,
    started_at: row.started_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    state: processStateAt(now, row),
    attempts_under_way: row.attempts_under_way,
    last_recorded_at: row.last_recorded_at?.toISOString() ?? null,
    organizations: row.organizations,
    slowed: row.slowed.map(({ id, limit }) => ({ subscription: publicId("wh", id), limit })),
  };
}
