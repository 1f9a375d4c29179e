import {
  type Fault,
  listed,
  noSuch,
  PartnerError,
  rangeFaults,
  requireNoFaults,
} from "../../lib/errors.ts";
import {
  type DeliveryId,
  numberedId,
  parseId,
  publicId,
  type RedeliveryId,
  type SubscriptionId,
  timeOrderedId,
  UUID,
} from "../../lib/ids.ts";
import type { Page, PageRequest } from "../../lib/page.ts";
import type { Database, Queryable } from "../../postgres/database.ts";
import { findOwners, OWNERS_MAX, readDeliveryQuery, type ReadQuery } from "../deliveries/query.ts";
import { searchDeliveries } from "../deliveries/search-sql.ts";
import { type Delivery, findDelivery } from "../deliveries/sql.ts";
import { type DeliveryView, viewDelivery } from "../deliveries/work.ts";
import { countWaiting } from "../deliveries/waiting-sql.ts";
import { requireServed } from "../deliveries/waiting.ts";
import type { Dependencies } from "../dependencies.ts";
import { listEverKnown } from "../event-types/work.ts";
import { labelFaults } from "../keys/rules.ts";
import { getOrganization } from "../organizations/work.ts";
import { readPage } from "../pages.ts";
import {
  findOwner,
  findStanding,
  findSubscriptions,
  listSubscriptionIds,
} from "../subscriptions/sql.ts";
import {
  type Action,
  ACTIONS,
  defaultRateOf,
  isRedeliverable,
  RATE,
  REDELIVERABLE_STATES,
  type RequestedState,
  statesOf,
  UNFINISHED_MAX,
} from "./rules.ts";
import {
  COUNTED_MAX,
  countMatching,
  countUnfinishedJobs,
  findJob,
  insertJob,
  insertRedeliveries,
  isJobBlocked,
  type Job,
  listJobs,
  listWriters,
  lockFinished,
  lockJob,
  lockJobs,
  type RedeliveryFilter,
  updateJobState,
} from "./sql.ts";

/**
 * Sends the event of a dead-lettered or cancelled delivery again, as a new delivery with attempts of its own. It goes to the
 * same subscription, or to the organization's subscription `to` (null: an id that cannot exist).
 */
export async function redeliver(
  { db, clock, nudge }: Pick<Dependencies, "db" | "clock" | "nudge">,
  deliveryId: DeliveryId | null,
  to?: SubscriptionId | null,
): Promise<Delivery> {
  const delivery = deliveryId === null ? null : await findDelivery(db, deliveryId);
  if (!delivery) throw noSuch("delivery");

  const subscriptionId = to === undefined ? delivery.subscriptionId : to;
  const wanted = subscriptionId === null ? [] : [subscriptionId];
  const [subscription] = await findSubscriptions(db, wanted);
  const isForeign = subscription?.organizationId !== delivery.organizationId;
  if (isForeign && to !== undefined) throw noSuch("subscription");

  if (delivery.state !== "dead_lettered" && delivery.state !== "cancelled") {
    throw new PartnerError(
      "not_redeliverable",
      `The delivery is ${delivery.state}: only dead-lettered and cancelled deliveries can be redelivered.`,
    );
  }
  if (isForeign || subscription.autoDisabledAt !== null) throw inactive();

  const now = clock();
  const id = numberedId(now);
  const { finishedAt, eventId } = delivery;
  const isMade = await db.begin(async (tx) => {
    if (finishedAt) await lockFinished(tx, [{ id: delivery.id, finishedAt }]);
    const row = { deliveryId: delivery.id, redeliveryId: id, eventId };
    const made = await insertRedeliveries(tx, [row], { to: subscription.id, job: null, now });
    return made.length === 1;
  });
  if (!isMade)
    throw new PartnerError("not_redeliverable", "The event is older than the retention period.");

  nudge([{ subscriptionId: subscription.id, organizationId: subscription.organizationId }]);
  return {
    ...delivery,
    id,
    subscriptionId: subscription.id,
    url: subscription.url,
    redeliveryOf: delivery.id,
    redeliveredAs: null,
    state: "waiting",
    attempts: 0,
    lastReason: null,
    createdAt: now,
    dueAt: now,
    finishedAt: null,
    heldAt: (await findStanding(db, subscription.id))?.heldAt ?? null,
    cancelReason: null,
  };
}

function inactive(): PartnerError {
  const detail = "The subscription is not active: name an active one.";
  return new PartnerError("subscription_inactive", detail);
}

/** How many deliveries a preview shows. */
const SAMPLE_MAX = 10;

/** Counts the deliveries that match. Reads a bounded number of deliveries. */
async function countMatches(
  db: Queryable,
  action: Action,
  filter: RedeliveryFilter & { createdAt: Date },
): Promise<{ count: number; estimated: boolean; already_redelivered: number }> {
  const { organizationId, subscriptionId } = filter;
  const owners = { organizationId, subscriptionId, host: null };
  const ids = await listSubscriptionIds(db, { ...owners, limit: OWNERS_MAX + 1 });
  const subscriptionIds = ids.slice(0, OWNERS_MAX);
  const { count, redelivered, isCut } =
    action === "redeliver"
      ? await countMatching(db, filter, {
          subscriptionIds,
          states: statesOf(filter.deliveryState),
        })
      : {
          ...(await countWaiting(db, filter, { subscriptionIds, limit: COUNTED_MAX })),
          redelivered: 0,
        };
  const estimated = isCut || ids.length > OWNERS_MAX;
  return { count, estimated, already_redelivered: redelivered };
}

/** Returns the newest deliveries that match. */
async function sampleOf(
  db: Queryable,
  action: Action,
  filter: RedeliveryFilter,
): Promise<DeliveryView[]> {
  const { organizationId, subscriptionId, deliveryState, ...search } = filter;
  const owners = await findOwners(db, { organizationId, subscriptionId, host: null });
  const page = { after: null, limit: SAMPLE_MAX };
  const found = await Promise.all(
    (action === "redeliver" ? statesOf(deliveryState) : (["waiting"] as const)).map((state) =>
      searchDeliveries(db, { ...search, ...owners, state }, page),
    ),
  );
  return found
    .flatMap(({ rows }) => rows)
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, SAMPLE_MAX)
    .map((row) => viewDelivery(row));
}

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
type RedeliveryQuery = Partial<Record<(typeof MEMBERS)[number], string | undefined>>;

/**
 * Reads the filter of a job, and adds its faults to `faults`. Returns a function that resolves its names, and throws if
 * one does not exist.
 */
async function readRedeliveryFilter(
  deps: Pick<Dependencies, "db" | "eventTypes" | "platformOrganization">,
  action: Action,
  query: RedeliveryQuery,
  faults: Fault[],
): Promise<() => Promise<RedeliveryFilter>> {
  const found: Fault[] = [];
  const types = await listEverKnown(deps);
  const { state = null, ...read } = readDeliveryQuery(query, types, found);
  const allowed: readonly string[] = action === "redeliver" ? REDELIVERABLE_STATES : ["waiting"];
  if (state !== null && !allowed.includes(state)) {
    const detail =
      allowed.length === 1 ? `must be ${allowed[0]}` : `must be one of ${listed(allowed)}`;
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

/** A job that sends deliveries again, as operators see it. */
export type RedeliveryView = ReturnType<typeof viewRedelivery>;

function viewRedelivery(row: Job) {
  return {
    id: publicId("rdl", row.id),
    action: row.action,
    reason: row.cancelReason,
    state: row.state,
    filter: {
      organization: publicId("org", row.organizationId),
      subscription: row.subscriptionId && publicId("wh", row.subscriptionId),
      state: row.action === "redeliver" ? row.deliveryState : "waiting",
      reason: row.reason,
      event: row.eventId === null ? row.eventType : publicId("evt", row.eventId),
      since: row.since?.toISOString() ?? null,
      until: row.until?.toISOString() ?? null,
    },
    to: row.toSubscriptionId && publicId("wh", row.toSubscriptionId),
    rate_per_second: row.ratePerSecond,
    total: row.total,
    done: row.done,
    skipped: row.skipped,
    failed: row.failed,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
}

type Deps = Pick<Dependencies, "db" | "clock" | "eventTypes" | "platformOrganization">;

interface RedeliveryRequest {
  /** Default: `redeliver`. */
  action?: string | undefined;
  /** Why the deliveries are cancelled. A preview needs none. */
  reason?: string | undefined;
  filter: RedeliveryQuery;
  /** The `wh_<uuid>` of an active subscription of the organization. Default: the delivery's own. */
  to?: string | undefined;
  rate_per_second?: number | undefined;
  dry_run?: boolean | undefined;
}

/** The deliveries that a job would send, attempt or cancel. */
export type RedeliveryPreview = Awaited<ReturnType<typeof previewRedelivery>>;

export async function previewRedelivery(deps: Deps, request: RedeliveryRequest) {
  const { action, filter } = await readRequest(deps, request);
  const found = await countMatches(deps.db, action, { ...filter, createdAt: deps.clock() });
  return { ...found, sample: await sampleOf(deps.db, action, filter) };
}

/** Creates a job for the matching deliveries. A process with a dispatcher works on it. */
export async function createRedelivery(
  deps: Deps,
  request: RedeliveryRequest,
  createdBy: string,
): Promise<RedeliveryView> {
  const { action, cancelReason, filter, to } = await readRequest(deps, request);
  const now = deps.clock();
  const { count: total } = await countMatches(deps.db, action, { ...filter, createdAt: now });
  const job = await deps.db.begin(async (tx) => {
    await lockJobs(tx);
    if ((await countUnfinishedJobs(tx)) >= UNFINISHED_MAX) {
      const detail = `${UNFINISHED_MAX} redeliveries are not finished yet: cancel one, or wait.`;
      throw new PartnerError("redelivery_limit", detail);
    }
    return insertJob(tx, {
      ...filter,
      ...{ id: timeOrderedId(now), action, cancelReason, createdBy, createdAt: now },
      ...{ toSubscriptionId: to, total },
      ratePerSecond: request.rate_per_second ?? defaultRateOf(action),
      openWriters: action === "redeliver" ? await listWriters(tx) : [],
    });
  });
  return viewRedelivery(job);
}

/** Returns a page of jobs, newest first. */
export async function pageOfRedeliveries(
  { db }: Pick<Dependencies, "db">,
  request: PageRequest,
): Promise<Page<RedeliveryView>> {
  return readPage(request, {
    name: "redeliveries",
    form: new RegExp(`^${UUID}$`),
    positionOf: (row: Job) => row.id,
    rows: (after, limit) => listJobs(db, { after, limit }),
    view: viewRedelivery,
  });
}

export async function getRedelivery(
  { db }: Pick<Dependencies, "db">,
  id: RedeliveryId | null,
): Promise<RedeliveryView> {
  const job = id === null ? null : await findJob(db, id);
  if (!job) throw noSuch("redelivery");
  return viewRedelivery(job);
}

/** Pauses, resumes or cancels a job. A resumed job is queued while another one runs for the same subscription. */
export async function setRedeliveryState(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  id: RedeliveryId | null,
  requested: RequestedState,
): Promise<RedeliveryView> {
  const job = await db.begin(async (tx) => {
    if (id === null) return null;
    await lockJobs(tx);
    const found = await lockJob(tx, id);
    if (!found) return null;
    if (found.finishedAt !== null) {
      throw new PartnerError("redelivery_finished", `The redelivery is already ${found.state}.`);
    }
    const isBlocked = requested === "running" && (await isJobBlocked(tx, id));
    const finishedAt = requested === "cancelled" ? clock() : null;
    return updateJobState(tx, id, { state: isBlocked ? "queued" : requested, finishedAt });
  });
  if (!job) throw noSuch("redelivery");
  return viewRedelivery(job);
}

/** Reads a request. Throws one error that names every fault, or the thing that does not exist. */
async function readRequest(
  deps: Deps,
  request: RedeliveryRequest,
): Promise<{
  action: Action;
  cancelReason: string | null;
  filter: RedeliveryFilter;
  to: SubscriptionId | null;
}> {
  const { action: said = "redeliver", filter: query, to, rate_per_second: rate = 1 } = request;
  const action = ACTIONS.find((one) => one === said) ?? "redeliver";
  const reason = request.reason?.trim() ?? (request.dry_run ? null : undefined);
  const faults = [
    ...(action === said
      ? []
      : [{ pointer: "/action", detail: `must be one of ${listed(ACTIONS)}` }]),
    ...reasonFaults(action, reason),
    ...(action !== "redeliver" && to !== undefined
      ? [{ pointer: "/to", detail: "must be absent, unless action is redeliver" }]
      : []),
    ...rangeFaults("/rate_per_second", rate, RATE.max),
  ];
  const resolve = await readRedeliveryFilter(deps, action, query, faults);
  requireNoFaults(faults);
  const filter = await resolve();
  if (action === "attempt_now" && filter.subscriptionId !== null) {
    requireServed(await findStanding(deps.db, filter.subscriptionId));
  }
  const target = to === undefined ? null : await findTarget(deps.db, filter, to);
  return { action, cancelReason: reason ?? null, filter, to: target };
}

/** `reason`: null if none is needed yet. */
function reasonFaults(action: Action, reason: string | null | undefined): Fault[] {
  const pointer = "/reason";
  if (action === "cancel") return reason === null ? [] : labelFaults(reason ?? "", pointer);
  if (reason === undefined || reason === null) return [];
  return [{ pointer, detail: "must be absent, unless action is cancel" }];
}

async function findTarget(
  db: Database,
  filter: RedeliveryFilter,
  to: string,
): Promise<SubscriptionId> {
  const id = parseId("wh", to);
  const [subscription] = id === null ? [] : await findSubscriptions(db, [id]);
  if (subscription?.organizationId !== filter.organizationId) throw noSuch("subscription");
  if (subscription.autoDisabledAt !== null) throw inactive();
  return subscription.id;
}
