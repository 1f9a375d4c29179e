import { call } from "../api.js";
import { el } from "../element.js";
import { field, form } from "../form.js";
import { go } from "../place.js";
import { confirmed } from "../question.js";
import { ifMayChange } from "../session.js";
import { id, link, badge, time } from "../show.js";
import { table } from "../table.js";

const COLUMNS = [
  ["Attempt", ({ attempt }) => attempt],
  ["Outcome", ({ status }) => badge(status)],
  ["HTTP status", ({ http_status }) => http_status || null],
  ["Reason", ({ reason }) => reason],
  ["Took", ({ duration_ms }) => `${duration_ms} ms`],
  ["At", ({ attempted_at }) => time(attempted_at)],
  ["Next attempt", ({ next_attempt_at }) => time(next_attempt_at)],
];

export function deliveryPage({ id: asked = "" }) {
  const page = el("div");
  return { title: asked, parts: [page], read };

  async function read() {
    const delivery = await call("GET", `deliveries/${encodeURIComponent(asked || "none")}`);
    const attempts = table("Attempts", COLUMNS);
    attempts.rows.append(...delivery.attempt_log.map(attempts.row));
    page.append(facts(delivery), el("h2", {}, "Attempts"), attempts.element);
    if (isOver(delivery)) page.append(...ifMayChange(...redelivery(delivery)));
  }
}

const isOver = ({ state }) => state === "dead_lettered" || state === "cancelled";

function facts(delivery) {
  const { event_id: event, subscription_id: subscription, subscription: standing } = delivery;
  const organization = standing.organization_slug;
  const shown = {
    State: badge(delivery.state),
    Event: link(id(event), "deliveries", { event }),
    Type: delivery.event_type,
    Subscription: link(id(subscription), "deliveries", { subscription }),
    URL: standing.url, // Not a link, because partners choose it.
    "Auto-disabled": time(standing.auto_disabled_at),
    Deleted: time(standing.deleted_at),
    Organization: link(organization, "deliveries", { organization }),
    Created: time(delivery.created_at),
    Due: time(delivery.due_at),
    Finished: time(delivery.finished_at),
  };
  const lines = Object.entries(shown).map(([term, fact]) => [
    el("dt", {}, term),
    el("dd", {}, fact),
  ]);
  return el("dl", {}, ...lines.flat());
}

/** A heading and a form. */
function redelivery({ subscription, ...delivery }) {
  const required = Boolean(subscription.deleted_at ?? subscription.auto_disabled_at);
  const label = `To another subscription${required ? "" : " (optional)"}`;
  const to = field("to", label, { placeholder: "wh_…", required });
  const send = form([to], "Redeliver", async (said) => {
    const question = "Send the event again as a new delivery?";
    if (!(await confirmed(question, delivery.event_id, "Redeliver now"))) return;
    const made = await call("POST", `deliveries/${delivery.id}/redeliver`, said);
    go("delivery", { id: made.id });
  });
  return [el("h2", {}, "Redeliver"), send];
}
