import { batch, type Refusal } from "../lib/batch.ts";
import { BoundedCache } from "../lib/bounded-cache.ts";
import { Busy, Crowded } from "../lib/errors.ts";
import { countPublished } from "./activity/counted.ts";
import { ActivityLog } from "./activity/log.ts";
import type { Dependencies, Parts, SoughtSubscription } from "./dependencies.ts";
import { createEventTypes } from "./event-types/rules.ts";
import { createPublishing, tracePublishing } from "./events/publish.ts";
import { createAdmitting } from "./keys/admission.ts";
import { Proofs } from "./keys/proofs.ts";
import { ONLY_CELL } from "./keys/rules.ts";
import type { OrganizationName } from "./organizations/rules.ts";
import { findOrganizations } from "./organizations/sql.ts";
import { findSubscriptions } from "./subscriptions/sql.ts";

/** The most organizations for which this process remembers when it told the platform. */
const LIMITED_TOLD_MAX = 10_000;

const RETENTION_MS = 30 * 24 * 3_600_000;

/** Operators take turns with organizations as if they were one. */
const OPERATORS = "";

/** How calls are batched. A statement that takes longer than `patienceMs` is abandoned. */
const BATCH = { max: 200, enough: 32, paceMs: 1, patienceMs: 5_000, refuse };

/** A batch that takes too long is an outage. Too many calls are none. */
function refuse(why: Refusal): Error {
  return why === "overdue" ? new Busy() : new Crowded();
}

export function createDependencies(parts: Parts): Dependencies {
  const { clock } = parts;
  const inTime = () => parts.db.within(BATCH.patienceMs);
  const { activity = new ActivityLog(clock) } = parts;
  return {
    cell: ONLY_CELL,
    eventTypes: createEventTypes(),
    retentionMs: RETENTION_MS,
    ownProblems: () => Promise.resolve([]),
    ...parts,
    activity,
    keysUsed: new Map(),
    limited: { waiting: new Map(), toldAt: new BoundedCache(LIMITED_TOLD_MAX) },
    proofs: new Proofs(),
    batched: {
      admit: createAdmitting(parts, BATCH),

      findSubscription: batch(
        async (sought: SoughtSubscription[]) => {
          const rows = await findSubscriptions(
            inTime(),
            sought.map(({ id }) => id),
          );
          const byId = new Map(rows.map((row) => [row.id, row]));
          return sought.map(({ id }) => byId.get(id) ?? null);
        },
        BATCH,
        ({ soughtBy }) => soughtBy ?? OPERATORS,
      ),

      findOrganization: batch(
        async (names: OrganizationName[]) => findOrganizations(inTime(), names),
        BATCH,
        ({ id, slug }) => id ?? slug ?? "",
      ),

      ...tracePublishing(countPublished(activity, createPublishing(parts, BATCH))),
    },
  };
}
