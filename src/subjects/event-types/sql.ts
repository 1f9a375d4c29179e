import type { NodeId } from "../../lib/ids.ts";
import { arrayText } from "../../postgres/array-text.ts";
import type { Queryable } from "../../postgres/database.ts";

interface TypeAnnouncement {
  id: NodeId;
  /** The platform's types that this process knows. */
  names: readonly string[];
}

/** Announcements wait for each other until their transactions end. */
export async function lockEventTypes(tx: Queryable): Promise<void> {
  await tx`lock table event_type_nodes in share row exclusive mode`;
}

/** Records the types that a process knows now. */
export async function recordNode(
  tx: Queryable,
  { id, names }: TypeAnnouncement,
  now: Date,
): Promise<void> {
  await tx`
    insert into event_type_nodes (id, names, seen_at)
    values (${id}, ${arrayText(names)}::text::text[], ${now})
    on conflict (id) do update set names = excluded.names, seen_at = excluded.seen_at, ended_at = null`;
}

export async function recordNodeEnded(db: Queryable, id: NodeId, now: Date): Promise<void> {
  await db`update event_type_nodes set ended_at = ${now} where id = ${id}`;
}

/** Deletes processes that ended or were not seen since then. */
export async function deleteNodes(
  tx: Queryable,
  { except, unseenSince }: { except: NodeId; unseenSince: Date },
): Promise<void> {
  await tx`
    delete from event_type_nodes
     where id <> ${except} and (ended_at is not null or seen_at < ${unseenSince})`;
}

/** A type is known if any process announces it. Does not write rows that stay the same. */
export async function updateEventTypes(tx: Queryable, now: Date): Promise<void> {
  await tx`
    update event_types t
       set retired_at = ${now}
     where retired_at is null and not exists (select from event_type_nodes n where t.name = any(n.names))`;
  await tx`
    insert into event_types (name, added_at)
    select distinct name, ${now}::timestamptz from event_type_nodes, unnest(names) as name order by name
    on conflict (name) do update set retired_at = null where event_types.retired_at is not null`;
}

/** Returns every type that a platform has ever announced, in order of name. */
export async function listEventTypeNames(db: Queryable): Promise<string[]> {
  const rows = await db<{ name: string }[]>`select name from event_types order by name`;
  return rows.map(({ name }) => name);
}

/** Returns types outside of `known` that active subscriptions list, in order of name. */
export async function listSubscribedBeside(
  db: Queryable,
  known: readonly string[],
): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select distinct name
      from subscriptions, unnest(events) as name
     where deleted_at is null and auto_disabled_at is null
       and not events <@ ${arrayText(known)}::text::text[]
       and name <> all(${arrayText(known)}::text::text[])
     order by name`;
  return rows.map(({ name }) => name);
}

/** Returns the types of each running process that was seen since then. */
export async function listNodes(db: Queryable, seenSince: Date): Promise<{ names: string[] }[]> {
  return db<{ names: string[] }[]>`
    select names from event_type_nodes where ended_at is null and seen_at >= ${seenSince}`;
}
