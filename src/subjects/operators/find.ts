import { invalidRequest, noSuch } from "../../lib/errors.ts";
import { idIn, parseId, publicId } from "../../lib/ids.ts";
import { hostIn } from "../deliveries/query.ts";
import type { Dependencies } from "../dependencies.ts";
import { listEverKnown } from "../event-types/work.ts";
import { parseKeyId } from "../keys/rules.ts";
import { SLUG } from "../organizations/rules.ts";
import { getOrganization } from "../organizations/work.ts";
import {
  findAttempt,
  findDeliveryState,
  findEventType,
  findJobState,
  findKeyLabel,
  findSlug,
  findUrl,
  listHosts,
  listSlugs,
} from "./sql.ts";

/** A search result. `kind` tells which page shows it. */
export interface Found {
  kind: FoundKind;
  /** The public id, or the name of an event type or a host. */
  id: string;
  label: string;
}

export const FOUND_KINDS = [
  "organization",
  "subscription",
  "event",
  "delivery",
  "attempt",
  "key",
  "redelivery",
  "event_type",
  "host",
] as const;
type FoundKind = (typeof FOUND_KINDS)[number];

/** The limits of a search: of its results, and of the length of its text. */
export const FOUND_MAX = 20;
export const TEXT_MAX = 300;

/** The longest time from the beginning of an attempt to the recording of its success. */
const ATTEMPT_SPAN_MS = 60_000;

type Deps = Pick<Dependencies, "db" | "eventTypes">;

/** Finds a thing by its id, with what may stand around it, or by the beginning of its slug, event type or host. */
export async function find(
  deps: Deps & Pick<Dependencies, "platformOrganization">,
  text: string,
): Promise<{ items: Found[] }> {
  const sought = text.trim();
  if (sought === "" || sought.length > TEXT_MAX) {
    throw invalidRequest([{ pointer: "/q", detail: `must have 1 to ${TEXT_MAX} characters` }]);
  }
  // No name holds a control character, and PostgreSQL refuses NUL.
  if (/\p{Cc}/u.test(sought)) return { items: [] };
  const byId = await findById(deps, idIn(sought) ?? keyIn(sought) ?? sought);
  if (byId) return { items: [byId] };
  const name = sought.toLowerCase();
  const host = hostIn(name);
  const found = await Promise.all([
    organizations(deps, name),
    eventTypes(deps, name),
    hosts(deps, host),
  ]);
  // Exact matches come first.
  const isExact = ({ label }: Found) => Number(label === name || label === host);
  const items = found.flat().sort((one, other) => isExact(other) - isExact(one));
  return { items: items.slice(0, FOUND_MAX) };
}

async function organizations({ db }: Deps, name: string): Promise<Found[]> {
  const rows = await listSlugs(db, name, FOUND_MAX);
  return rows.map(({ id, slug }) => ({
    kind: "organization",
    id: publicId("org", id),
    label: slug,
  }));
}

async function eventTypes(deps: Deps, name: string): Promise<Found[]> {
  return (await listEverKnown(deps))
    .filter((type) => type.startsWith(name))
    .toSorted()
    .slice(0, FOUND_MAX)
    .map((type) => ({ kind: "event_type", id: type, label: type }));
}

async function hosts({ db }: Deps, host: string): Promise<Found[]> {
  const rows = await listHosts(db, host, FOUND_MAX);
  return rows.map((found) => ({ kind: "host", id: found, label: found }));
}

/** Returns the thing with this id, or the organization with this slug, also a closed one. */
export async function findExactly(deps: Pick<Deps, "db">, name: string): Promise<Found> {
  if (!SLUG.test(name)) {
    const found = await findById(deps, name);
    if (!found) throw noSuch("thing");
    return found;
  }
  const { id, slug } = await getOrganization(deps, name, { withClosed: true });
  return { kind: "organization", id: publicId("org", id), label: slug };
}

/** Returns null unless the text is the id of something that exists. */
async function findById({ db }: Pick<Deps, "db">, text: string): Promise<Found | null> {
  const keyId = text.startsWith("vck_") ? parseKeyId(text.split(".")[0] ?? "") : null;
  if (keyId !== null) return foundAs("key", `vck_${keyId}`, await findKeyLabel(db, keyId));

  const ids = {
    organization: parseId("org", text),
    subscription: parseId("wh", text),
    event: parseId("evt", text),
    delivery: parseId("dlv", text),
    attempt: parseId("att", text),
    redelivery: parseId("rdl", text),
  };
  if (ids.organization) return foundAs("organization", text, await findSlug(db, ids.organization));
  if (ids.subscription) return foundAs("subscription", text, await findUrl(db, ids.subscription));
  if (ids.event) return foundAs("event", text, await findEventType(db, ids.event));
  if (ids.delivery) return foundAs("delivery", text, await findDeliveryState(db, ids.delivery));
  if (ids.redelivery) return foundAs("redelivery", text, await findJobState(db, ids.redelivery));
  const attempt = ids.attempt && (await findAttempt(db, ids.attempt, ATTEMPT_SPAN_MS));
  // An attempt has no page. The page of its delivery shows it.
  if (attempt) {
    const label = `${attempt.outcome} ${text}`;
    return { kind: "attempt", id: publicId("dlv", attempt.deliveryId), label };
  }
  return null;
}

/** The key's id in a token or a header with one. */
function keyIn(text: string): string | null {
  return /\bvck_[0-9a-z]{20}\b/.exec(text)?.[0] ?? null;
}

function foundAs(kind: FoundKind, id: string, label: string | null): Found | null {
  return label === null ? null : { kind, id, label };
}
