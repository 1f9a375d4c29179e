import type { Fault } from "../../lib/errors.ts";
import {
  type DeliveryId,
  type OrganizationId,
  publicId,
  type SubscriptionId,
} from "../../lib/ids.ts";

/** A kind of event. */
export interface EventType {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  /** The JSON Schema 2020-12 of `data`. */
  readonly schema: object;
  /** A `data` that the schema accepts. */
  readonly example: object;
  /** The faults that the schema finds in `data`. Pointers are relative to `data`, so "" is `data` itself. */
  readonly faultsOf: (data: unknown) => Fault[];
  /** The same in little time of this thread. Absent if `faultsOf` takes little time. */
  readonly check?: DataCheck;
}

/** Checks data that may be large against a schema that somebody else wrote. */
interface DataCheck {
  /** Whether the schema accepts the data. Null if this may take longer than a few milliseconds. `length` is that of its JSON. */
  accepts(data: unknown, length: number): boolean | null;
  /** Finds the faults in a thread of its own. `text` is the data as JSON. */
  faultsApart(text: string): Promise<Fault[]>;
}

/** The event types that this process knows: the service's own, then the platform's in order of name. */
export interface EventTypes extends Iterable<EventType> {
  readonly names: readonly string[];
  find(name: string): EventType | undefined;
}

/** The service's own types. Their `data` comes from our own code, so no schema checks it. */
export const OWN_EVENT_TYPES = {
  "vc.test.ping": {
    summary: "A test event, sent on request",
    schema: {
      type: "object",
      properties: { message: { type: "string" } },
      required: ["message"],
    },
    example: { message: "integration test" },
  },
} as const satisfies Record<string, Pick<EventType, "summary" | "schema" | "example">>;

/** The service's own names begin with this. Platforms can neither declare nor publish them. */
const OWN_PREFIX = "vc.";
const NAME = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/;
const NAME_LENGTH_MAX = 100;

/** Returns a sentence about the fault of a name for a platform's type, or null. */
export function faultOfTypeName(name: string): string | null {
  if (name.length > NAME_LENGTH_MAX) {
    return `the name must have at most ${NAME_LENGTH_MAX} characters`;
  }
  if (!NAME.test(name)) {
    return "the name must be words of a-z, 0-9 and _ joined by dots, as in order.created";
  }
  return isOwnType(name) ? `the prefix ${OWN_PREFIX} is reserved` : null;
}

export function isOwnType(name: string): boolean {
  return name.startsWith(OWN_PREFIX);
}

/** Returns the service's own types and those of the platform. */
export function createEventTypes(ofPlatform: readonly EventType[] = []): EventTypes {
  const own = Object.entries(OWN_EVENT_TYPES).map(([name, type]) => ({
    ...type,
    name,
    faultsOf: () => [],
  }));
  const sorted = ofPlatform.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const types = new Map<string, EventType>([...own, ...sorted].map((type) => [type.name, type]));
  return {
    names: [...types.keys()],
    find: (name) => types.get(name),
    [Symbol.iterator]: () => types.values(),
  };
}

/** Publishers' libraries are generated in these languages. */
export const LIBRARY_LANGUAGES = ["ts", "py", "go"] as const;
export type LibraryLanguage = (typeof LIBRARY_LANGUAGES)[number];

/** Types of events that notify the platform about its partners. Only the platform's own organization can subscribe to them. */
export const NOTICE_TYPES = [
  "vc.subscription.disabled",
  "vc.delivery.dead_lettered",
  "vc.organization.limited",
] as const;

/** A notification of the platform. */
export interface Notice {
  type: (typeof NOTICE_TYPES)[number];
  organizationId: OrganizationId;
  subscriptionId: SubscriptionId | null;
  deliveryId: DeliveryId | null;
  reason: string;
  at: Date;
}

/** Returns the `data` of the event as JSON text. */
export function encodeNotice(
  { organizationId, subscriptionId, deliveryId, reason }: Notice,
  slug: string,
): string {
  return JSON.stringify({
    organization: { id: publicId("org", organizationId), slug },
    subscription: subscriptionId === null ? null : publicId("wh", subscriptionId),
    delivery: deliveryId === null ? null : publicId("dlv", deliveryId),
    reason,
  });
}

/** The shortest time between two notices that one organization is limited. */
export const LIMITED_PAUSE_MS = 60_000;
