import type { Fault } from "../domain/errors.ts";
import { publicId, timeOrderedId, UUID } from "../domain/ids.ts";
import type { Page, PageRequest } from "../domain/page.ts";
import {
  type DatedChange,
  insertChanges,
  listChanges,
  type NewChange,
} from "../postgres/changes.ts";
import type { Dependencies } from "./dependencies.ts";
import { somewhere } from "./everywhere.ts";
import { readPage } from "./pages.ts";
import { readTime } from "./queries.ts";
import type { Shards } from "./shards.ts";

export type ChangeView = ReturnType<typeof viewChange>;

/** A filter of changes, as an operator writes it. */
export interface ChangeQuery {
  operator?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  /** Inclusive, ISO 8601. */
  since?: string | undefined;
  /** Exclusive, ISO 8601. */
  until?: string | undefined;
}

/** Records changes in the first shard that works. If that shard's answer is lost, the next one gets the same ids. */
export async function recordChanges(shards: Shards, changes: NewChange[]): Promise<void> {
  const now = shards.clock();
  const rows = changes.map((change) => ({ id: timeOrderedId(now), ...change }));
  await somewhere(shards, ({ db }) => insertChanges(db, rows));
}

/** Returns a page of changes, newest first. */
export async function pageOfChanges(
  { db }: Pick<Dependencies, "db">,
  { since: from, until: to, ...query }: PageRequest & ChangeQuery,
): Promise<Page<ChangeView>> {
  const faults: Fault[] = [];
  const since = readTime("/since", from, faults);
  const until = readTime("/until", to, faults);
  for (const name of ["operator", "action", "subject"] as const) {
    if (/\p{Cc}/u.test(query[name] ?? "")) {
      faults.push({ pointer: `/${name}`, detail: "must not contain control characters" });
    }
  }
  return readPage(query, {
    name: "changes",
    form: new RegExp(`^${UUID}$`),
    faults,
    positionOf: (row: DatedChange) => row.id,
    rows: (after, limit) => listChanges(db, { ...query, since, until }, { after, limit }),
    view: viewChange,
  });
}

function viewChange({ id, at, requestId, ...change }: DatedChange) {
  return { id: publicId("chg", id), at: at.toISOString(), ...change, request_id: requestId };
}
