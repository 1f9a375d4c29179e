import { batch } from "../../lib/batch.ts";
import type { Fault } from "../../lib/errors.ts";
import { publicId, timeOrderedId, UUID } from "../../lib/ids.ts";
import type { Page, PageRequest } from "../../lib/page.ts";
import { readTime } from "../deliveries/query.ts";
import type { Dependencies } from "../dependencies.ts";
import { readPage } from "../pages.ts";
import {
  type Change,
  type DatedChange,
  insertChanges,
  listChanges,
  type NewChange,
} from "./sql.ts";

export type ChangeView = ReturnType<typeof viewChange>;

/** A filter of changes, as an operator writes it. */
interface ChangeQuery {
  operator?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  /** Inclusive, ISO 8601. */
  since?: string | undefined;
  /** Exclusive, ISO 8601. */
  until?: string | undefined;
}

export async function recordChanges(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  changes: NewChange[],
): Promise<void> {
  await insertChanges(
    db,
    changes.map((change) => ({ id: timeOrderedId(clock()), ...change })),
  );
}

/** How changes are batched that their requests do not wait for. */
const LATER = { max: 500, paceMs: 250, waitingMax: 10_000 };

export interface LaterChanges {
  /** Records the change within half a second. A crash before that loses the record. */
  record: (change: NewChange) => void;
  /** Resolves when all earlier changes are recorded, or have failed. */
  settle: () => Promise<void>;
}

/** Records changes many to a statement, while their requests are answered. */
export function createLaterChanges(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  onFailed: (error: unknown, change: NewChange) => void,
): LaterChanges {
  const open = new Set<Promise<void>>();
  const write = batch(async (rows: Change[]) => {
    await insertChanges(db, rows);
    return rows.map(() => undefined);
  }, LATER);

  return {
    record: (change) => {
      const written: Promise<void> = write({ id: timeOrderedId(clock()), ...change })
        .catch((error: unknown) => {
          onFailed(error, change);
        })
        .finally(() => open.delete(written));
      open.add(written);
    },
    settle: async () => {
      await Promise.all(open);
    },
  };
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
