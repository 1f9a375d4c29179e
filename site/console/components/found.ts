import type { Found } from "../api/shapes.ts";
import { addressOf, recordAddress } from "../place.ts";

export const KINDS: Record<string, string> = {
  organization: "Organization",
  subscription: "Subscription",
  event: "Event",
  delivery: "Delivery",
  attempt: "Attempt",
  key: "Key",
  event_type: "Event type",
  host: "Host",
  redelivery: "Redelivery",
};

export function addressOfFound({ kind, id, label }: Found): string {
  switch (kind) {
    case "organization":
      return recordAddress("organizations", id);
    case "key": // Its label begins with the slug of its organization.
      return recordAddress("organizations", label.split(":", 1)[0] ?? id);
    case "subscription":
      return recordAddress("subscriptions", id);
    case "event":
      return recordAddress("events", id);
    case "redelivery":
      return recordAddress("redeliveries", id);
    case "event_type":
      return addressOf("deliveries", { event: id });
    case "host":
      return addressOf("deliveries", { host: id });
    default:
      return recordAddress("deliveries", id);
  }
}
