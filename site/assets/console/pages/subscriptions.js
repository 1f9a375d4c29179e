import { call } from "../api.js";
import { button, choice, field, form } from "../form.js";
import { list } from "../list.js";
import { say } from "../notice.js";
import { go } from "../place.js";
import { confirmed } from "../question.js";
import { ifMayChange } from "../session.js";
import { id, link, badge, names, time } from "../show.js";

const COLUMNS = [
  ["Subscription", (item) => link(id(item.id), "deliveries", { subscription: item.id })],
  ["URL", ({ url }) => url], // Not a link, because partners choose it.
  ["Events", ({ events }) => names(events)],
  ["State", ({ active }) => badge(active ? "active" : "auto-disabled")],
  ["Failures", ({ consecutive_failures }) => consecutive_failures],
  ["Created", ({ created_at }) => time(created_at)],
];

const deletion = (item, redraw) => button("Delete", () => remove(item, redraw), "danger");

export function subscriptionsPage(query) {
  const fields = [
    field("organization", "Organization", {
      value: query.organization ?? "",
      placeholder: "slug or org_…",
    }),
    choice("active", "State", { true: "active", false: "auto-disabled" }, { value: query.active }),
  ];
  const columns = [...COLUMNS, ...ifMayChange(["Action", deletion])];
  const { element, read } = list("subscriptions", query, "Subscriptions", columns);
  const search = form(fields, "Search", (asked) => go("subscriptions", asked));
  return { title: "Subscriptions", parts: [search, element], read };
}

async function remove({ id: subscription, url }, redraw) {
  const question = `Delete ${subscription}? Its queued deliveries are cancelled.`;
  if (!(await confirmed(question, url, "Delete subscription"))) return;
  await call("DELETE", `subscriptions/${subscription}`);
  redraw(null);
  say(`${subscription} is deleted.`);
}
