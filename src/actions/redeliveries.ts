import { noSuch, PartnerError, rangeFaults, requireNoFaults } from "../domain/errors.ts";
import {
  type SubscriptionId,
  parseId,
  type RedeliveryId,
  timeOrderedId,
  UUID,
} from "../domain/ids.ts";
import type { Page, PageRequest } from "../domain/page.ts";
import { RATE, type RequestedState, UNFINISHED_MAX } from "../domain/redelivery.ts";
import type { Database } from "../postgres/database.ts";
import {
  countUnfinishedJobs,
  findJob,
  insertJob,
  isJobBlocked,
  type Job,
  listJobs,
  listWriters,
  lockJob,
  lockJobs,
  type RedeliveryFilter,
  updateJobState,
} from "../postgres/redelivery-jobs.ts";
import { findSubscriptions } from "../postgres/subscriptions.ts";
import type { Dependencies } from "./dependencies.ts";
import { readPage } from "./pages.ts";
import { inactive } from "./redeliver.ts";
import { countRedeliverable, sampleOf } from "./redelivery-preview.ts";
import { type RedeliveryQuery, readRedeliveryFilter } from "./redelivery-filter.ts";
import { type RedeliveryView, viewRedelivery } from "./views/redelivery.ts";

type Deps = Pick<Dependencies, "db" | "clock" | "eventTypes" | "platformOrganization">;

export interface RedeliveryRequest {
  filter: RedeliveryQuery;
  /** The `wh_<uuid>` of an active subscription of the organization. Default: the delivery's own. */
  to?: string | undefined;
  rate_per_second?: number | undefined;
}

/** The deliveries that a job would send. */
export type RedeliveryPreview = Awaited<ReturnType<typeof previewRedelivery>>;

export async function previewRedelivery(deps: Deps, request: RedeliveryRequest) {
  const { filter } = await readRequest(deps, request);
  const found = await countRedeliverable(deps.db, { ...filter, createdAt: deps.clock() });
  return { ...found, sample: await sampleOf(deps.db, filter) };
}

/** Creates a job that sends the matching deliveries again. A process with a dispatcher works on it. */
export async function createRedelivery(
  deps: Deps,
  request: RedeliveryRequest,
  createdBy: string,
): Promise<RedeliveryView> {
  const { filter, to } = await readRequest(deps, request);
  const now = deps.clock();
  const { count: total } = await countRedeliverable(deps.db, { ...filter, createdAt: now });
  const job = await deps.db.begin(async (tx) => {
    await lockJobs(tx);
    if ((await countUnfinishedJobs(tx)) >= UNFINISHED_MAX) {
      const detail = `${UNFINISHED_MAX} redeliveries are not finished yet: cancel one, or wait.`;
      throw new PartnerError("redelivery_limit", detail);
    }
    return insertJob(tx, {
      ...filter,
      ...{ id: timeOrderedId(now), createdBy, createdAt: now, toSubscriptionId: to, total },
      ratePerSecond: request.rate_per_second ?? RATE.default,
      openWriters: await listWriters(tx),
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
  { filter: query, to, rate_per_second: rate = RATE.default }: RedeliveryRequest,
): Promise<{ filter: RedeliveryFilter; to: SubscriptionId | null }> {
  const faults = rangeFaults("/rate_per_second", rate, RATE.max);
  const resolve = await readRedeliveryFilter(deps, query, faults);
  requireNoFaults(faults);
  const filter = await resolve();
  return { filter, to: to === undefined ? null : await findTarget(deps.db, filter, to) };
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
