import { Type } from "typebox";
import { FAILURE_DETAILS, FAILURE_REASONS } from "../domain/outcome.ts";
import { textOrNull } from "./nullable-schema.ts";
import { pageOf } from "./page-schema.ts";
import { Timestamp, timestampOrNull } from "./timestamp-schema.ts";

const Failure = Type.Object(
  {
    id: Type.String({ description: "`att_<uuid>`" }),
    subscription_id: Type.String({ description: "`wh_<uuid>`" }),
    event_id: Type.String({ description: "`evt_<uuid>`, as in the envelope" }),
    event_type: Type.String({ description: "`event` of the envelope" }),
    attempt: Type.Integer({ description: "The first attempt of a delivery is number 1." }),
    status: Type.String({ enum: ["failed", "dead_lettered"] }),
    http_status: Type.Integer({
      description: "The status that the receiver returned; 0 if it returned none.",
    }),
    reason: Type.Unsafe<string | null>({
      type: "string",
      description:
        "`http_<status>`, or why there was no status: " +
        `${FAILURE_REASONS.map((reason) => `\`${reason}\``).join(", ")}.`,
    }),
    detail: textOrNull(
      "What there is to add to the reason; null if nothing. " +
        `[Causes](/docs/troubleshooting#causes) explains ${FAILURE_DETAILS.map((one) => `\`${one}\``).join(", ")}.`,
    ),
    duration_ms: Type.Integer({ description: "The duration of the attempt." }),
    attempted_at: Timestamp,
    next_attempt_at: timestampOrNull(
      "When the next attempt was due; null if there was none. A later cancellation does not change it.",
    ),
  },
  {
    title: "Failure",
    description: "A failed attempt.",
    examples: [
      {
        id: "att_019bd1f2-1c00-7000-8a5b-2f9b1c3d4e5f",
        subscription_id: "wh_0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11",
        event_id: "evt_019bd1f1-0a00-7000-9b1c-5d6e7f809a1b",
        event_type: "vc.test.ping",
        attempt: 3,
        status: "failed",
        http_status: 503,
        reason: "http_503",
        detail: null,
        duration_ms: 41,
        attempted_at: "2026-01-31T09:36:00.000Z",
        next_attempt_at: "2026-01-31T10:06:00.041Z",
      },
    ],
  },
);

export const FailuresPage = pageOf(Failure, "FailuresPage", "Failed attempts, newest first.");
