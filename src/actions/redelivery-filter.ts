import { type Fault, noSuch } from "../domain/errors.ts";
import { isRedeliverable, REDELIVERABLE_STATES } from "../domain/redelivery.ts";
import type { Database } from "../postgres/database.ts";
import type { RedeliveryFilter } from "../postgres/redelivery-jobs.ts";
import { findOwner } from "../postgres/subscriptions.ts";
import type { Dependencies } from "./dependencies.ts";
import { listEverKnown } from "./event-types.ts";
import { getOrganization } from "./organizations.ts";
import { readDeliveryQuery, type ReadQuery } from "./queries.ts";

const MEMBERS = [
  "organization",
  "subscription",
  "state",
  "reason",
  "event",
  "since",
  "until",
] as const;

/** A filter of deliveries, as an operator writes it. */
export type RedeliveryQuery = Partial<Record<(typeof MEMBERS)[number], string | undefined>>;

/**
 * Reads the filter of a redelivery, and adds its faults to `faults`. Returns a function that resolves its names, and throws if
 * one does not exist.
 */
export async function readRedeliveryFilter(
  deps: Pick<Dependencies, "db" | "eventTypes" | "platformOrganization">,
  query: RedeliveryQuery,
  faults: Fault[],
): Promise<() => Promise<RedeliveryFilter>> {
  const found: Fault[] = [];
  const types = await listEverKnown(deps);
  const { state = null, ...read } = readDeliveryQuery(query, types, found);
  if (state !== null && !isRedeliverable(state)) {
    const detail = `must be one of ${REDELIVERABLE_STATES.join(", ")}`;
    found.push({ pointer: "/state", detail });
  }
  faults.push(...found.map(({ pointer, detail }) => ({ pointer: `/filter${pointer}`, detail })));

  // To ignore a misspelt member would widen the filter, and send too much.
  if (Object.keys(query).some((name) => !MEMBERS.some((member) => member === name))) {
    const detail = `must have only the members ${MEMBERS.join(", ")}`;
    faults.push({ pointer: "/filter", detail });
  }
  if (query.organization === undefined && query.subscription === undefined) {
    faults.push({ pointer: "/filter", detail: "must name an organization or a subscription" });
  }

  return async () => ({
    ...(await findOwnerOf(deps.db, query.organization, read)),
    deliveryState: state !== null && isRedeliverable(state) ? state : null,
    reason: read.reason ?? null,
    eventId: read.eventId ?? null,
    eventType: read.eventType ?? null,
    since: read.since ?? null,
    until: read.until ?? null,
  });
}

/** The subscription may be deleted, because its history can go to another one. */
async function findOwnerOf(
  db: Database,
  organization: string | undefined,
  { subscriptionId }: Pick<ReadQuery, "subscriptionId">,
): Promise<Pick<RedeliveryFilter, "organizationId" | "subscriptionId">> {
  const named =
    organization === undefined ? null : (await getOrganization({ db }, organization)).id;
  const owner = subscriptionId === null ? named : await findOwner(db, subscriptionId);
  if (owner === null || (named !== null && owner !== named)) throw noSuch("subscription");
  return { organizationId: owner, subscriptionId };
}
