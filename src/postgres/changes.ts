import type { ChangeId } from "../domain/ids.ts";
import { arrayText } from "./array-text.ts";
import type { Queryable } from "./database.ts";

/** How an operator reached the service. */
export const CHANGE_WAYS = ["api", "console", "command_line"] as const;
export type ChangeWay = (typeof CHANGE_WAYS)[number];

/** A change or a look-up by an operator. Its id carries the time. */
export interface Change {
  id: ChangeId;
  /** The token's name. */
  operator: string;
  action: string;
  /** The public id of the object. */
  subject: string;
  via: ChangeWay;
  /** The IP address of the request. */
  remote: string;
  requestId: string;
}

export type NewChange = Omit<Change, "id">;
export type DatedChange = Change & { at: Date };

/** Does not change existing rows. */
export async function insertChanges(db: Queryable, rows: Change[]): Promise<void> {
  const column = (name: keyof Change) => arrayText(rows.map((row) => row[name]));
  await db`
    insert into operator_changes (id, operator, action, subject, via, remote, request_id)
    select *
      from unnest(${column("id")}::text::uuid[], ${column("operator")}::text::text[],
                  ${column("action")}::text::text[], ${column("subject")}::text::text[],
                  ${column("via")}::text::text[], ${column("remote")}::text::text[],
                  ${column("requestId")}::text::text[])
    on conflict (id) do nothing`;
}

export interface ChangeFilter {
  operator?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  /** False: leaves out look-ups. */
  withReads?: boolean;
  since?: Date | null;
  until?: Date | null;
}

/** Returns changes, newest first, after `after`. */
export async function listChanges(
  db: Queryable,
  { operator, action, subject, withReads = true, since, until }: ChangeFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<DatedChange[]> {
  return db<DatedChange[]>`
    select id, operator, action, subject, via, remote, request_id as "requestId", moment_of(id) as at
      from operator_changes
     where true
       ${operator === undefined ? db`` : db`and operator = ${operator}`}
       ${action === undefined ? db`` : db`and action = ${action}`}
       ${subject === undefined ? db`` : db`and subject = ${subject}`}
       ${withReads ? db`` : db`and action not like 'read\\_%'`}
       ${since ? db`and id >= first_id_at(${since})` : db``}
       ${until ? db`and id < first_id_at(${until})` : db``}
       ${after === null ? db`` : db`and id < ${after}`}
     order by id desc
     limit ${limit}`;
}
