import type { Fault } from "../lib/errors.ts";
import { type DeliveryId, type OrganizationId, timeOfId, UUID } from "../lib/ids.ts";
import type { Page, PageRequest } from "../lib/page.ts";
import {
  type DeliveryQuery,
  findOwners,
  readBoolean,
  readChoice,
  readDeliveryQuery,
  refuseEmpty,
} from "./deliveries/query.ts";
import type { DeliveryState } from "./deliveries/rules.ts";
import { countDeliveries, searchDeliveries } from "./deliveries/search-sql.ts";
import { type DeliveryView, viewDelivery } from "./deliveries/work.ts";
import type { Dependencies } from "./dependencies.ts";
import { listEverKnown } from "./event-types/work.ts";
import { KEY_ID } from "./keys/rules.ts";
import { listApiKeys } from "./keys/sql.ts";
import { type ApiKeyView, viewApiKey } from "./keys/work.ts";
import { organizationName, SLUG } from "./organizations/rules.ts";
import { listOrganizations } from "./organizations/sql.ts";
import { getOrganization, type OrganizationView, viewOrganization } from "./organizations/work.ts";
import { readPage } from "./pages.ts";
import { SUBSCRIPTION_ORDERS } from "./subscriptions/rules.ts";
import { listSubscriptions, type OperatedSubscription } from "./subscriptions/sql.ts";
import { type OperatedSubscriptionView, viewOperatedSubscription } from "./subscriptions/work.ts";

/** The most names that a page of organizations is limited to. */
export const NAMES_MAX = 100;

/** Returns a page of organizations, ordered by slug. `names`: only these, ids or slugs with commas between them. */
export async function pageOfOrganizations(
  { db }: Pick<Dependencies, "db">,
  { names: given, ...request }: PageRequest & { names?: string | undefined },
): Promise<Page<OrganizationView>> {
  const names = given?.split(",").map((name) => organizationName(name.trim())) ?? null;
  const isTooMany = names !== null && names.length > NAMES_MAX;
  return readPage(request, {
    name: "organizations",
    form: SLUG,
    faults: isTooMany ? [{ pointer: "/names", detail: `must be at most ${NAMES_MAX} names` }] : [],
    positionOf: (row) => row.slug,
    rows: (after, limit) => listOrganizations(db, names, { after, limit }),
    view: viewOrganization,
  });
}

/** Returns a page of keys, newest first. Omits revoked ones by default. */
export async function pageOfApiKeys(
  { db }: Pick<Dependencies, "db">,
  query: PageRequest & { organization?: string | undefined; include_revoked?: string | undefined },
): Promise<Page<ApiKeyView>> {
  const faults: Fault[] = [];
  refuseEmpty(query.organization, faults);
  const includeRevoked = readBoolean("/include_revoked", query.include_revoked, faults) ?? false;
  return readPage(query, {
    name: "keys",
    form: new RegExp(`^\\d{14} ${KEY_ID}$`),
    faults,
    positionOf: (row) => positionAt(row.createdAt, row.keyId),
    rows: async (position, limit) => {
      const organizationId = await idOf(db, query.organization);
      const after = readPosition(position, (createdAt, keyId) => ({ createdAt, keyId }));
      return listApiKeys(db, { organizationId, includeRevoked, after, limit });
    },
    view: viewApiKey,
  });
}

/** Returns a page of subscriptions without deleted ones, in the asked order. */
export async function pageOfSubscriptions(
  deps: Pick<Dependencies, "db" | "retentionMs" | "rules">,
  query: PageRequest & {
    organization?: string | undefined;
    active?: string | undefined;
    order?: string | undefined;
  },
): Promise<Page<OperatedSubscriptionView>> {
  const faults: Fault[] = [];
  refuseEmpty(query.organization, faults);
  const active = readBoolean("/active", query.active, faults);
  const order = readChoice("/order", query.order, SUBSCRIPTION_ORDERS, faults) ?? "newest";
  return readPage(query, {
    name: order === "newest" ? "subscriptions" : "failing subscriptions",
    form: new RegExp(`^[01] \\d{10} \\d{14} ${UUID}$`),
    faults,
    positionOf: (row: OperatedSubscription) => {
      const isDisabled = Number(order === "failing" && row.autoDisabledAt !== null);
      const failures = order === "failing" ? row.consecutiveFailures : 0;
      return `${isDisabled} ${String(failures).padStart(10, "0")} ${positionAt(row.createdAt, row.id)}`;
    },
    rows: async (position, limit) => {
      const { db } = deps;
      const organizationId = await idOf(db, query.organization);
      const [isDisabled, failures, ...rest] = position?.split(" ") ?? [];
      const after = readPosition(rest.length === 0 ? null : rest.join(" "), (createdAt, id) => ({
        ...{ createdAt, id },
        ...{ isDisabled: isDisabled === "1", failures: Number(failures) },
      }));
      return listSubscriptions(db, { organizationId, active, order, after, limit });
    },
    view: (row: OperatedSubscription) => viewOperatedSubscription(row, deps),
  });
}

/** A page of deliveries. */
export interface DeliveriesPageView extends Page<DeliveryView> {
  /** Since when all that was created has been searched, if the search stopped before the end. */
  searched_until: string | null;
  /** The matching deliveries in each state, if they were asked for. */
  counts?: Record<DeliveryState, number>;
}

/** Returns a page of deliveries, newest first, in any state. */
export async function pageOfDeliveries(
  {
    db,
    eventTypes,
    platformOrganization,
  }: Pick<Dependencies, "db" | "eventTypes" | "platformOrganization">,
  { count, ...query }: PageRequest & DeliveryQuery & { count?: string | undefined },
): Promise<DeliveriesPageView> {
  const faults: Fault[] = [];
  refuseEmpty(query.organization, faults);
  const isCounting = readBoolean("/count", count, faults) ?? false;
  const filter = readDeliveryQuery(
    query,
    await listEverKnown({ db, eventTypes, platformOrganization }),
    faults,
  );
  const ends: (DeliveryId | null)[] = [];
  let counts: Record<DeliveryState, number> | undefined;
  const page = await readPage(query, {
    name: "deliveries",
    form: new RegExp(`^${UUID}$`),
    faults,
    positionOf: (row) => row.id,
    rows: async (after, limit) => {
      const organizationId = await idOf(db, query.organization);
      const owned = { ...filter, ...(await findOwners(db, { ...filter, organizationId })) };
      const counted = isCounting ? await countDeliveries(db, owned) : null;
      const part = await searchDeliveries(db, owned, { after, limit });
      ends.push(part.reached, counted?.reached ?? null);
      counts = counted?.counts;
      return part;
    },
    view: viewDelivery,
  });
  const [end] = ends
    .filter((id) => id !== null)
    .sort()
    .reverse();
  const searchedUntil = end === undefined ? null : timeOfId(end).toISOString();
  return { ...page, searched_until: searchedUntil, ...(counts && { counts }) };
}

/** Returns null if no organization is named. Finds closed ones, too, because their history stays. */
async function idOf(db: Dependencies["db"], organization?: string): Promise<OrganizationId | null> {
  if (organization === undefined) return null;
  return (await getOrganization({ db }, organization, { withClosed: true })).id;
}

/** Returns the position of a row in a list ordered by age, which sorts as text. `readPosition` reads it. */
function positionAt(created: Date, id: string): string {
  return `${String(created.getTime()).padStart(14, "0")} ${id}`;
}

function readPosition<Row>(
  position: string | null,
  toRow: (created: Date, id: string) => Row,
): Row | null {
  if (position === null) return null;
  const [ms, id = ""] = position.split(" ");
  return toRow(new Date(Number(ms)), id);
}
