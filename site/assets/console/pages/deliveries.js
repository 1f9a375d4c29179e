import { choice, field, form } from "../form.js";
import { list } from "../list.js";
import { go } from "../place.js";
import { id, link, badge, time } from "../show.js";

const STATES = ["waiting", "delivered", "dead_lettered", "cancelled"];

const COLUMNS = [
  ["Delivery", (delivery) => link(id(delivery.id), "delivery", { id: delivery.id })],
  ["Event", ({ event_id: event }) => link(id(event), "deliveries", { event })],
  ["State", ({ state }) => badge(state)],
  ["Attempts", ({ attempts }) => attempts],
  ["Last failure", ({ reason }) => reason],
  ["Created", ({ created_at }) => time(created_at)],
];

export function deliveriesPage(query) {
  const at = (name, label, placeholder = "") =>
    field(name, label, { value: query[name] ?? "", placeholder });
  const fields = [
    at("event", "Event", "evt_… or type"),
    at("subscription", "Subscription", "wh_…"),
    at("organization", "Organization", "slug or org_…"),
    choice("state", "State", Object.fromEntries(STATES.map((state) => [state, state])), {
      value: query.state,
    }),
    at("reason", "Last failure", "http_503"),
    at("since", "Created since", "2026-01-31T00:00:00Z"),
    at("until", "Created before", "2026-02-01T00:00:00Z"),
  ];
  const { element, read } = list("deliveries", query, "Deliveries", COLUMNS);
  const search = form(fields, "Search", (asked) => go("deliveries", asked));
  return { title: "Deliveries", parts: [search, element], read };
}
