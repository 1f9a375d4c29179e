import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Problem } from "../domain/overview.ts";
import type { ProcessRole } from "../domain/process.ts";
import type { Queryable } from "./database.ts";

/** The properties of a process that never change. */
export interface ProcessIdentity {
  id: string;
  role: ProcessRole;
  version: string;
  host: string;
  pid: number;
  started_at: Date;
}

/** A process's report on itself. */
export interface ProcessReport {
  is_stopping: boolean;
  attempts_under_way: number;
  last_recorded_at: Date | null;
  organizations: { id: OrganizationId; slots: number }[];
  slowed: { id: SubscriptionId; limit: number }[];
  problems: Problem[];
}

export interface ProcessRow extends ProcessIdentity, Omit<ProcessReport, "organizations"> {
  last_seen_at: Date;
  ended_at: Date | null;
  organizations: { slug: string; slots: number }[];
}

export async function recordProcess(
  db: Queryable,
  process: ProcessIdentity,
  report: ProcessReport,
  now: Date,
): Promise<void> {
  const { id, role, version, host, pid, started_at } = process;
  await db`
    insert into processes
           (id, role, version, host, pid, started_at, last_seen_at, is_stopping, last_recorded_at, attempts_under_way,
            organizations, slowed, problems)
    values (${id}, ${role}, ${version}, ${host}, ${pid}, ${started_at}, ${now}, ${report.is_stopping},
            ${report.last_recorded_at}, ${report.attempts_under_way}, ${JSON.stringify(report.organizations)}::text::jsonb,
            ${JSON.stringify(report.slowed)}::text::jsonb, ${JSON.stringify(report.problems)}::text::jsonb)
        on conflict (id) do update
       set last_seen_at = excluded.last_seen_at, is_stopping = excluded.is_stopping,
           last_recorded_at = excluded.last_recorded_at, attempts_under_way = excluded.attempts_under_way,
           organizations = excluded.organizations, slowed = excluded.slowed, problems = excluded.problems`;
}

/** Records that the process ends, so that it is not missed. */
export async function recordProcessEnded(db: Queryable, id: string, now: Date): Promise<void> {
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
export async function listProcesses(db: Queryable, unseenSince: Date): Promise<ProcessRow[]> {
  return db<ProcessRow[]>`
    select p.id, p.role, p.version, p.host, p.pid, p.started_at, p.last_seen_at, p.is_stopping, p.ended_at,
           p.last_recorded_at, p.attempts_under_way, p.slowed, p.problems,
           (select coalesce(json_agg(json_build_object('slug', o.slug, 'slots', (e.one ->> 'slots')::int) order by e.place), '[]')
              from jsonb_array_elements(p.organizations) with ordinality as e (one, place)
              join organizations o on o.id = (e.one ->> 'id')::uuid) as organizations
      from processes p
     where p.last_seen_at >= ${unseenSince}
     order by p.started_at desc, p.id
     limit ${LISTED_MAX}`;
}
