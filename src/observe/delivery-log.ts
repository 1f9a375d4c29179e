import type { Logger } from "pino";
import { publicId } from "../lib/ids.ts";
import { traceIdOf } from "../lib/traceparent.ts";
import type { Consequences } from "../subjects/deliveries/attempts.ts";
import { type Attempt, auditOf, type Claim } from "../subjects/deliveries/rules.ts";

interface DeliveryLog {
  ended(attempt: Attempt): void;
  recorded(
    attempts: Attempt[],
    consequences: Pick<Consequences, "recorded" | "deadLettered" | "disabled">,
  ): void;
  /** The database did not take the outcome until its lease had ended, or refused it. */
  abandoned(attempt: Attempt): void;
}

/**
 * Logs a line for each attempt, and one for each outcome that ends something. A success is `debug`, because there may be
 * thousands a second. A failed attempt is `info`. An outcome that is not in the audit is `warn`, because the delivery is attempted
 * again, and its receiver may get the event twice.
 */
export function createDeliveryLog(logger: Logger): DeliveryLog {
  // These lines hold no secrets, and a search for them costs more than the writing.
  const log = logger.child({}, { redact: [] });

  return {
    ended({ claim, outcome, startedAt, endedAt }) {
      const level = outcome.kind === "acknowledged" ? "debug" : "info";
      if (!log.isLevelEnabled(level)) return;
      const { httpStatus: http_status, reason, detail } = auditOf(outcome);
      log[level](
        {
          ...namesOf(claim),
          event_type: claim.type,
          host: new URL(claim.url).host,
          attempt: claim.attempts + 1,
          http_status,
          reason,
          ...(detail !== null && { detail }),
          ms: endedAt.getTime() - startedAt.getTime(),
        },
        "attempt",
      );
    },

    recorded(attempts, { recorded, deadLettered, disabled }) {
      if (log.isLevelEnabled("debug")) {
        for (const { attempt } of recorded) log.debug(namesOf(attempt.claim), "outcome recorded");
      }
      if (recorded.length < attempts.length) {
        const known = new Set(recorded.map(({ attempt }) => attempt.id));
        for (const attempt of attempts)
          if (!known.has(attempt.id)) log.warn(leaseOf(attempt), "outcome ignored: lease lost");
      }
      if (deadLettered.length === 0 && disabled.length === 0) return;
      for (const { claim, outcome } of deadLettered) {
        const { reason, detail } = auditOf(outcome);
        const why = { reason, ...(detail !== null && { detail }) };
        log.warn({ ...namesOf(claim), ...why }, "delivery dead-lettered");
      }
      for (const id of disabled) {
        const claim = attempts.find((one) => one.claim.subscriptionId === id)?.claim;
        if (claim) log.warn(subscriptionOf(claim), "subscription auto-disabled");
      }
    },

    abandoned(attempt) {
      log.warn(leaseOf(attempt), "outcome abandoned: not recorded in time");
    },
  };
}

/** What tells which attempt it was, and how long no other process could claim its delivery. */
function leaseOf({ claim, startedAt, endedAt }: Attempt) {
  return {
    ...namesOf(claim),
    attempt: claim.attempts + 1,
    attempted_at: startedAt,
    ms: endedAt.getTime() - startedAt.getTime(),
    leased_until: claim.leasedUntil,
  };
}

/** The ids that link a line to the event's other lines. */
export function namesOf(claim: Claim) {
  return {
    event_id: publicId("evt", claim.eventId),
    delivery_id: publicId("dlv", claim.id),
    subscription_id: publicId("wh", claim.subscriptionId),
    organization_id: publicId("org", claim.organizationId),
    ...(claim.traceparent !== null && { trace_id: traceIdOf(claim.traceparent) }),
  };
}

/** Leaves out the URL's query, because partners put secrets there. */
function subscriptionOf({ subscriptionId, organizationId, url }: Claim) {
  const { origin, pathname } = new URL(url);
  return {
    subscription_id: publicId("wh", subscriptionId),
    organization_id: publicId("org", organizationId),
    url: origin + pathname,
  };
}
