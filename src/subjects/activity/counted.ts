import { type DeliveryId, type OrganizationId, timeOfId } from "../../lib/ids.ts";
import type { DueSubscription } from "../../queue/rules.ts";
import type { Consequences } from "../deliveries/attempts.ts";
import type { CancelledCount } from "../deliveries/cancellation-sql.ts";
import { type Attempt, auditOf, type DeliveryState } from "../deliveries/rules.ts";
import type { Dependencies } from "../dependencies.ts";
import type { PublishedNotice } from "../events/notices.ts";
import type { Published } from "../events/publication.ts";
import type { Publishing } from "../events/publish.ts";
import type { NewEvent } from "../events/rules.ts";
import type { Allowance } from "../keys/rules.ts";
import type { ActivityLog } from "./log.ts";
import type { ActivityCounts } from "./rules.ts";

/** Counts the events that `publishing` has made durable. */
export function countPublished(activity: ActivityLog, publishing: Publishing): Publishing {
  return {
    publish: async (event) => {
      const published = await publishing.publish(event);
      countEvent(activity, event, published);
      return published;
    },
    publishAll: async (events) => {
      const all = await publishing.publishAll(events);
      events.forEach((event, i) => {
        if (all[i]) countEvent(activity, event, all[i]);
      });
      return all;
    },
  };
}

/** Counts events that a transaction of the caller's has published, and tells the dispatcher of them. Call it after the commit. */
export function notePublished(
  { activity, nudge }: Pick<Dependencies, "activity" | "nudge">,
  events: readonly NewEvent[],
  published: readonly Published[],
): void {
  const due: DueSubscription[] = [];
  events.forEach((event, i) => {
    const one = published[i];
    if (!one) return;
    countEvent(activity, event, one);
    for (const id of one.subscriptionIds)
      due.push({ subscriptionId: id, organizationId: event.organizationId });
  });
  if (due.length > 0) nudge(due);
}

function countEvent(
  activity: ActivityLog,
  event: NewEvent,
  { isDuplicate, subscriptionIds }: Published,
): void {
  const isWritten = event.subscriptionId === undefined || subscriptionIds.length > 0;
  if (isWritten && !isDuplicate) activity.notePublished(event.organizationId, subscriptionIds);
}

/** Counts an authenticated request, and whether the rate limit refused it. */
export function countRequest(
  activity: ActivityLog,
  organizationId: OrganizationId,
  { passed }: Allowance,
): void {
  activity.note({ organizationId }, (counts) => {
    counts.add("requests");
    if (!passed) counts.add("rate_limited");
  });
}

export function countCancelled(activity: ActivityLog, counted: readonly CancelledCount[]): void {
  for (const one of counted) {
    activity.note(one, (counts) => {
      counts.add("cancelled", one.cancelled);
    });
  }
}

/** Counts notices to the platform as published events. */
export function countNotices(activity: ActivityLog, notices: readonly PublishedNotice[]): void {
  for (const { organizationId, subscriptionIds } of notices) {
    activity.notePublished(organizationId, subscriptionIds);
  }
}

/** Counts recorded attempts, exactly as the audit shows them, and the notices that they published. */
export function countRecorded(
  activity: ActivityLog,
  { recorded, cancelled, disabled, notices }: Consequences,
): void {
  countNotices(activity, notices);
  const disabledIds = new Set(disabled);
  for (const { attempt, state } of recorded) {
    const { claim } = attempt;
    activity.note(claim, (counts) => {
      countAttempt(counts, attempt, state);
    });
    if (!disabledIds.delete(claim.subscriptionId)) continue;
    activity.note(claim, (counts) => {
      counts.add("disabled");
    });
  }
  countCancelled(activity, cancelled);
}

function countAttempt(
  counts: ActivityCounts,
  { claim, outcome, startedAt, endedAt }: Attempt,
  state: DeliveryState | null,
): void {
  counts.addAttempt(msBetween(startedAt, endedAt), auditOf(outcome).reason);
  if (state === null || state === "waiting") return;
  counts.add(state);
  if (state === "delivered") counts.addEndToEnd(endToEndMs(claim.id, endedAt));
}

/** Returns the time from the publishing of an event to the end of the attempt that delivered it. */
export function endToEndMs(id: DeliveryId, endedAt: Date): number {
  return msBetween(timeOfId(id), endedAt);
}

/** Clocks step, so the difference may be negative. */
function msBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime());
}
