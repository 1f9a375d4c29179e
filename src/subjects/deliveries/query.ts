import { hostOf } from "../../egress/index.ts";
import { readTimestamp, TIMESTAMP_RULE } from "../../lib/duration.ts";
import { type Fault, listed } from "../../lib/errors.ts";
import { idIn, type OrganizationId, parseId, type SubscriptionId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import { listSubscriptionIds } from "../subscriptions/sql.ts";
import { DELIVERY_STATES, FAILURE_REASONS } from "./rules.ts";
import type { DeliveryFilter } from "./search-sql.ts";

/** The most subscriptions that a search of deliveries names, deleted ones included. */
export const OWNERS_MAX = 1_000;

interface OwnerQuery {
  subscriptionId: SubscriptionId | null;
  organizationId: OrganizationId | null;
  host: string | null;
}

/**
 * Returns whose deliveries a search is for: the subscriptions, deleted ones included, or a crowd if there are too many. A
 * partner can create and delete any number of them.
 */
export async function findOwners(
  db: Queryable,
  { subscriptionId, organizationId, host }: OwnerQuery,
): Promise<Pick<DeliveryFilter, "subscriptionIds" | "crowd">> {
  if (organizationId === null && host === null) {
    return { subscriptionIds: subscriptionId ? [subscriptionId] : null };
  }
  const limit = OWNERS_MAX + 1;
  const ids = await listSubscriptionIds(db, { subscriptionId, organizationId, host, limit });
  return ids.length <= OWNERS_MAX ? { subscriptionIds: ids } : { crowd: { organizationId, host } };
}

/** The text of one field of a filter. Undefined: any value. */
type QueryText = string | undefined;

/** A filter of deliveries, as an operator writes it. `organization` is always an id or a slug. */
export interface DeliveryQuery {
  organization?: QueryText;
  /** `wh_<uuid>`. */
  subscription?: QueryText;
  /** The receiver's host, or its URL. */
  host?: QueryText;
  /** `evt_<uuid>`, or an event type. */
  event?: QueryText;
  state?: QueryText;
  /** The reason of the last failed attempt. */
  reason?: QueryText;
  /** Created at or after, ISO 8601. */
  since?: QueryText;
  /** Created before, ISO 8601. */
  until?: QueryText;
}

/** A reason of a failed attempt. */
export const REASON = new RegExp(`^(?:http_[0-9]{3}|${FAILURE_REASONS.join("|")})$`);

/** What the filter for hosts accepts: a text without white space and control characters. The OpenAPI document has this pattern. */
export const HOST_TEXT =
  // eslint-disable-next-line no-control-regex -- It refuses control characters.
  /^[^\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+$/;

/**
 * The same for what an operator may paste: a URL with any scheme, a host with or without a port, or an address. Returns any
 * other text in lower case.
 */
export function hostIn(text: string): string {
  const rest = text.trim().replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, "");
  return hostOf(`https://${rest}`) || hostOf(`https://[${rest}]`) || rest.toLowerCase();
}

/** The parsed query. The database resolves the organization. */
export interface ReadQuery extends Omit<DeliveryFilter, "subscriptionIds" | "crowd"> {
  subscriptionId: SubscriptionId | null;
  host: string | null;
}

/** Reads everything but the organization. `eventTypes` are all that ever existed. Adds a fault for each unreadable field. */
export function readDeliveryQuery(
  query: DeliveryQuery,
  eventTypes: readonly string[],
  faults: Fault[],
): ReadQuery {
  const eventId = query.event === undefined ? null : readId("evt", query.event);
  const filter = {
    subscriptionId: read(faults, "/subscription", query.subscription, {
      parse: (text) => readId("wh", text),
      wanted: "must be the id of a subscription, wh_<uuid>",
    }),
    host: read(faults, "/host", query.host, {
      parse: (text) => (HOST_TEXT.test(text) ? hostIn(text) : null),
      wanted: "must be a host or a URL",
    }),
    eventId,
    eventType: read(faults, "/event", eventId === null ? query.event : undefined, {
      parse: (type) => eventTypes.find((name) => name === type) ?? null,
      wanted: `must be the id of an event, evt_<uuid>, or a type: ${listed(eventTypes)}`,
    }),
    state: readChoice("/state", query.state, DELIVERY_STATES, faults),
    reason: read(faults, "/reason", query.reason, {
      parse: (reason) => (REASON.test(reason) ? reason : null),
      wanted: `must be http_ and a status, or one of ${FAILURE_REASONS.join(", ")}`,
    }),
    since: readTime("/since", query.since, faults),
    until: readTime("/until", query.until, faults),
  };
  const { since, until } = filter;
  if (since !== null && until !== null && until < since) {
    faults.push({ pointer: "/until", detail: "must not be earlier than since" });
  }
  return filter;
}

/** Reads an id with what may stand around it, such as the name of the header that it was in. */
export function readId<Prefix extends "wh" | "evt">(prefix: Prefix, text: string) {
  return parseId<Prefix>(prefix, idIn(text) ?? "");
}

/** An empty text is neither the name of an organization nor a filter. */
export function refuseEmpty(organization: QueryText, faults: Fault[]): void {
  if (organization !== "") return;
  faults.push({ pointer: "/organization", detail: "must name one organization" });
}

/** Returns null if the field is absent or unreadable. */
export function readBoolean(pointer: string, text: QueryText, faults: Fault[]): boolean | null {
  return read(faults, pointer, text, {
    parse: (word) => (word === "true" || word === "false" ? word === "true" : null),
    wanted: "must be true or false",
  });
}

/** Returns null if the field is absent or none of `choices`. */
export function readChoice<Choice extends string>(
  pointer: string,
  text: QueryText,
  choices: readonly Choice[],
  faults: Fault[],
): Choice | null {
  return read(faults, pointer, text, {
    parse: (word) => choices.find((choice) => choice === word) ?? null,
    wanted: `must be one of ${choices.join(", ")}`,
  });
}

/** Returns null if the field is absent or unreadable. */
export function readTime(pointer: string, text: QueryText, faults: Fault[]): Date | null {
  return read(faults, pointer, text, {
    parse: readTimestamp,
    wanted: `must be ${TIMESTAMP_RULE}`,
  });
}

function read<Value>(
  faults: Fault[],
  pointer: string,
  text: QueryText,
  { parse, wanted }: { parse: (text: string) => Value | null; wanted: string },
): Value | null {
  if (text === undefined) return null;
  const value = parse(text);
  if (value === null) faults.push({ pointer, detail: wanted });
  return value;
}
