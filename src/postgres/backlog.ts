import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";
import type { Statement } from "./driver/statement.ts";

/** The owner of the deliveries. Null: all deliveries. */
export type BacklogOwner =
  | { kind: "organization"; id: OrganizationId }
  | { kind: "subscription"; id: SubscriptionId }
  | null;

/** Waiting deliveries: those that are due, and those that are due later. */
export interface Backlog {
  due: number;
  scheduled: number;
  /** True if one of the two numbers is an estimate. */
  estimated: boolean;
}

/** Up to this number, deliveries are counted exactly. */
export const EXACT_MAX = 10_000;

/** Counts waiting deliveries. Above `EXACT_MAX` it returns the planner's estimate. Leaves claimed deliveries out. */
export async function countBacklog(
  db: Queryable,
  owner: BacklogOwner,
  now: Date,
): Promise<Backlog> {
  const rows = (when: Statement<unknown>) => db`
    select from (${waitingOf(db, owner)}) w
     where ${when} and (leased_until is null or leased_until <= ${now})
     limit ${EXACT_MAX + 1}`;
  const [counted] = await db<[{ due: number; scheduled: number }]>`
    select (select count(*)::int from (${rows(db`due_at <= ${now}`)}) d) as due,
           (select count(*)::int from (${rows(db`due_at > ${now}`)}) s) as scheduled`;
  const beyond = (count: number) => count > EXACT_MAX;
  const estimate = async (isDue: boolean) =>
    Math.max(EXACT_MAX, await estimateRows(db, owner, now, isDue));
  return {
    due: beyond(counted.due) ? await estimate(true) : counted.due,
    scheduled: beyond(counted.scheduled) ? await estimate(false) : counted.scheduled,
    estimated: beyond(counted.due) || beyond(counted.scheduled),
  };
}

function waitingOf(db: Queryable, owner: BacklogOwner): Statement<unknown> {
  if (owner === null) return db`select due_at, leased_until from waiting_deliveries`;
  const ofOne = (id: Statement<unknown>) =>
    db`select due_at, leased_until from waiting_deliveries where subscription_id = ${id}`;
  if (owner.kind === "subscription") return ofOne(db`${owner.id}`);
  return db`
    select w.due_at, w.leased_until
      from subscriptions s
     cross join lateral (${ofOne(db`s.id`)}) w
     where s.organization_id = ${owner.id} and s.deleted_at is null`;
}

/** Returns the planner's estimate, from the table's size and samples of its columns. EXPLAIN takes no parameters. */
async function estimateRows(
  db: Queryable,
  owner: BacklogOwner,
  now: Date,
  isDue: boolean,
): Promise<number> {
  const whose = owner === null ? "" : `and ${owner.kind}_id = '${owner.id}'`;
  const rows = await db.unsafe(
    `explain (format json)
     select from waiting_deliveries where due_at ${isDue ? "<=" : ">"} '${now.toISOString()}' ${whose}`,
  );
  const [plan] = (rows[0]?.["QUERY PLAN"] ?? []) as { Plan?: { "Plan Rows"?: number } }[];
  return plan?.Plan?.["Plan Rows"] ?? 0;
}

/** Returns the earliest due time of the deliveries that are not claimed. Null if there is none. */
export async function findNextDueOf(
  db: Queryable,
  owner: BacklogOwner,
  now: Date,
): Promise<Date | null> {
  const first = (whose: Statement<unknown>) => db`
    select due_at
      from waiting_deliveries
     where ${whose} (leased_until is null or leased_until <= ${now})
     order by due_at
     limit 1`;
  const rows =
    owner?.kind === "organization"
      ? db<{ due_at: Date }[]>`
          select w.due_at
            from subscriptions s
           cross join lateral (${first(db`subscription_id = s.id and`)}) w
           where s.organization_id = ${owner.id} and s.deleted_at is null
           order by w.due_at
           limit 1`
      : db<{ due_at: Date }[]>`
          ${first(owner === null ? db`` : db`subscription_id = ${owner.id} and`)}`;
  const [row] = await rows;
  return row?.due_at ?? null;
}
