import type { OrganizationId, ProcessId, SubscriptionId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Problem } from "../activity/rules.ts";
import type { ProcessRole, Seen } from "./rules.ts";

/** The properties of a process that never change. */
export interface ProcessIdentity {
  id: ProcessId;
  role: ProcessRole;
  version: string;
  host: string;
  pid: number;
  startedAt: Date;
}

/** A process's report on itself. */
interface ProcessReport {
  isStopping: boolean;
  attemptsUnderWay: number;
  /** The most attempts at once. Null if it delivers nothing. */
  slots: number | null;
  lastRecordedAt: Date | null;
  organizations: { id: OrganizationId; slots: number }[];
  slowed: { id: SubscriptionId; limit: number }[];
  problems: Problem[];
}

/** A process as it last reported itself. */
export interface KnownProcess extends ProcessIdentity, Omit<ProcessReport, "organizations">, Seen {
  organizations: { slug: string; slots: number }[];
}

export async function recordProcess(
  db: Queryable,
  process: ProcessIdentity,
  report: ProcessReport,
  now: Date,
): Promise<void> {
  const { id, role, version, host, pid, startedAt } = process;
  await db`
    insert into processes
           (id, role, version, host, pid, started_at, last_seen_at, is_stopping, last_recorded_at, attempts_under_way,
            slots, organizations, slowed, problems)
    values (${id}, ${role}, ${version}, ${host}, ${pid}, ${startedAt}, ${now}, ${report.isStopping},
            ${report.lastRecordedAt}, ${report.attemptsUnderWay}, ${report.slots},
            ${JSON.stringify(report.organizations)}::text::jsonb, ${JSON.stringify(report.slowed)}::text::jsonb,
            ${JSON.stringify(report.problems)}::text::jsonb)
        on conflict (id) do update
       set last_seen_at = excluded.last_seen_at, is_stopping = excluded.is_stopping,
           last_recorded_at = excluded.last_recorded_at, attempts_under_way = excluded.attempts_under_way,
           slots = excluded.slots, organizations = excluded.organizations, slowed = excluded.slowed,
           problems = excluded.problems`;
}

/** Records that the process ends, so that it is not missed. */
export async function recordProcessEnded(db: Queryable, id: ProcessId, now: Date): Promise<void> {
  await db`
    update processes
       set ended_at = ${now}, last_seen_at = ${now}, attempts_under_way = 0, organizations = '[]', slowed = '[]', problems = '[]'
     where id = ${id}`;
}

export async function deleteProcesses(db: Queryable, unseenSince: Date): Promise<void> {
  await db`delete from processes where last_seen_at < ${unseenSince}`;
}

/** The longest list. More are never useful, and restarts in a loop create many. */
const LISTED_MAX = 200;

/** Returns processes, the latest start first. */
export async function listProcesses(db: Queryable, unseenSince: Date): Promise<KnownProcess[]> {
  return db<KnownProcess[]>`
    select p.id, p.role, p.version, p.host, p.pid, p.started_at as "startedAt", p.last_seen_at as "lastSeenAt",
           p.is_stopping as "isStopping", p.ended_at as "endedAt", p.last_recorded_at as "lastRecordedAt",
           p.attempts_under_way as "attemptsUnderWay", p.slots, p.slowed, p.problems,
           (select coalesce(json_agg(json_build_object('slug', o.slug, 'slots', (e.one ->> 'slots')::int) order by e.position), '[]')
              from jsonb_array_elements(p.organizations) with ordinality as e (one, position)
              join organizations o on o.id = (e.one ->> 'id')::uuid) as organizations
      from processes p
     where p.last_seen_at >= ${unseenSince}
     order by p.started_at desc, p.id
     limit ${LISTED_MAX}`;
}
