import { Type } from "typebox";
import { textOrNull } from "../nullable-schema.ts";
import { NullableTimestamp, Timestamp } from "../timestamp-schema.ts";
import { Latency, SuccessShare, Waiting } from "./latency-schema.ts";

export const Health = Type.Object(
  {
    success_share: SuccessShare,
    attempt_ms: Latency,
    recent: Type.Array(
      Type.Object(
        {
          at: Timestamp,
          http_status: Type.Integer({ description: "0 if the receiver returned none." }),
          reason: textOrNull("Null for a success."),
          duration_ms: Type.Integer(),
        },
        { title: "RecentAttempt", description: "A summary of an attempt." },
      ),
      { description: "The last 100 attempts, oldest first." },
    ),
    waiting: Waiting,
    next_due_at: NullableTimestamp,
  },
  {
    title: "Health",
    description: "The health of deliveries. Share and latency cover the last 24 hours.",
  },
);
