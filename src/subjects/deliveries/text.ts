import {
  cut,
  DELIVERY_STYLES,
  fields,
  type Line,
  painter,
  shortTime,
  table,
} from "../../commands/output.ts";
import type { AttemptView, DeliveryDetail, DeliveryView, StandingView } from "./work.ts";

export const deliveryHeadings = ["ID", "CREATED", "STATE", "ATTEMPTS"];

const STATE_COLUMN = deliveryHeadings.indexOf("STATE");

export function deliveryLine(item: DeliveryView): Line {
  const reason = item.reason === null ? "" : ` (${item.reason})`;
  const state = item.held_at ? `${item.state}, held` : item.state;
  return {
    cells: [item.id, shortTime(item.created_at), state, `${item.attempts}${reason}`],
    note: `${cut(item.organization.slug, 24)} → ${cut(item.host, 48)}  ${cut(item.event_type, 40)}`,
    styles: { [STATE_COLUMN]: DELIVERY_STYLES[item.state] },
  };
}

export function showDelivery(delivery: DeliveryDetail, options: { isTerminal: boolean }): string {
  const { subscription } = delivery;
  const paint = painter(options);
  const facts = fields(
    {
      id: delivery.id,
      event: `${delivery.event_id} ${delivery.event_type}`,
      subscription: `${delivery.subscription_id}${endOf(subscription)}`,
      url: subscription.url,
      organization: `${delivery.organization_id} ${subscription.organization_slug}`,
      state: delivery.state,
      created: delivery.created_at,
      due: delivery.due_at ?? "-",
      finished: delivery.finished_at ?? "-",
      ...(delivery.held_at && { held: `since ${delivery.held_at}` }),
      ...(delivery.cancel_reason && { because: delivery.cancel_reason }),
      ...(delivery.request_id !== null && { request: delivery.request_id }),
      ...(delivery.redelivery_of !== null && { repeats: delivery.redelivery_of }),
      ...(delivery.redelivered_as !== null && { "redelivered as": delivery.redelivered_as }),
    },
    { state: (text) => paint(DELIVERY_STYLES[delivery.state], text) },
  );
  const attempts =
    delivery.attempt_log.length === 0
      ? "No finished attempts yet.\n"
      : table(attemptHeadings, delivery.attempt_log.map(attemptLine), options);
  return `${facts}\n${attempts}${options.isTerminal ? nextStep(delivery) : ""}`;
}

/** The command that sends a delivery that waits or did not arrive. */
function nextStep({ id, state, redelivered_as, subscription, ...rest }: DeliveryDetail): string {
  if (rest.held_at) return `\nTo go on: partner-api subscription release ${rest.subscription_id}\n`;
  if (state === "waiting") return `\nTo attempt it now: partner-api delivery attempt ${id}\n`;
  if (redelivered_as !== null || (state !== "dead_lettered" && state !== "cancelled")) return "";
  const again = `partner-api delivery redeliver ${id}`;
  if (subscription.auto_disabled_at === null && subscription.deleted_at === null) {
    return `\nTo send it again: ${again}\n`;
  }
  const { organization_slug: slug } = subscription;
  return `\nTo send it to another subscription: ${again} --to wh_…\nTo find one: partner-api subscription list --active true --organization ${slug}\n`;
}

function endOf({ deleted_at, auto_disabled_at }: StandingView): string {
  if (deleted_at !== null) return `, deleted ${deleted_at}`;
  return auto_disabled_at === null ? "" : `, auto-disabled ${auto_disabled_at}`;
}

const attemptHeadings = ["ATTEMPT", "AT", "OUTCOME", "STATUS", "TOOK", "NEXT"];
const OUTCOME_COLUMN = attemptHeadings.indexOf("OUTCOME");

function outcomeIn({ reason, detail, status }: AttemptView): string {
  return detail === null ? (reason ?? status) : `${reason ?? status} (${detail})`;
}

function attemptLine(attempt: AttemptView): Line {
  return {
    cells: [
      String(attempt.attempt),
      attempt.attempted_at,
      outcomeIn(attempt),
      attempt.http_status === 0 ? "-" : String(attempt.http_status),
      `${attempt.duration_ms} ms`,
      attempt.next_attempt_at ?? "-",
    ],
    styles: { [OUTCOME_COLUMN]: attempt.status === "delivered" ? "green" : "red" },
  };
}
