import { Type } from "typebox";
import { nullable } from "../nullable-schema.ts";

export const Latency = Type.Object(
  {
    p50: nullable(Type.Integer()),
    p99: nullable(Type.Integer()),
    buckets: Type.Optional(
      Type.Record(Type.String(), Type.Integer(), {
        description:
          "Only with `mergeable`: the counts by the logarithm of the time to the base 1.15.",
      }),
    ),
  },
  {
    title: "Latency",
    description: "In milliseconds, accurate to 8 %; null if nothing was measured.",
  },
);

export const SuccessShare = nullable(
  Type.Number({
    description: "The share of successful attempts, from 0 to 1; null if there were none.",
  }),
);

export const Waiting = Type.Object(
  {
    due: nullable(Type.Integer({ description: "Deliveries that may be attempted now." })),
    scheduled: nullable(Type.Integer({ description: "Deliveries with a later retry." })),
    estimated: Type.Boolean({ description: "Counts are exact up to 10,000 and estimated above." }),
  },
  { title: "Waiting", description: "Waiting deliveries that no process has claimed." },
);
