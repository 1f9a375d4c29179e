import { Type } from "typebox";
import { nullable, Timestamp, timestampOrNull, Unreachable } from "../../http/schema.ts";
import { CellName } from "../cells/schema.ts";
import { PROCESS_ROLES, PROCESS_STATES } from "./rules.ts";

export const Process = Type.Object(
  {
    id: Type.String({ description: "`prc_<uuid>`" }),
    cell: CellName,
    role: Type.String({ enum: [...PROCESS_ROLES] }),
    version: Type.String(),
    host: Type.String(),
    pid: Type.Integer(),
    started_at: Timestamp,
    last_seen_at: Timestamp,
    state: Type.String({
      enum: [...PROCESS_STATES],
      description:
        "`gone`: it stopped, or it has not reported for 15 s. It leaves the list after a day.",
    }),
    attempts_under_way: Type.Integer(),
    slots: nullable(
      Type.Integer({
        description:
          "The maximum of attempts at once (`DISPATCH_CONCURRENCY`); null if the process delivers nothing, or if its release does not report it.",
      }),
    ),
    last_recorded_at: timestampOrNull(
      "When it last recorded an outcome; null if it has recorded none.",
    ),
    organizations: Type.Array(
      Type.Object(
        { slug: Type.String(), slots: Type.Integer() },
        { title: "HeldSlots", description: "An organization, and how many slots it holds." },
      ),
      {
        description: "The ten organizations that hold the most of its slots.",
      },
    ),
    slowed: Type.Array(
      Type.Object(
        { subscription: Type.String(), limit: Type.Integer() },
        { title: "SlowedSubscription", description: "A subscription, and its concurrency limit." },
      ),
      {
        description:
          "The hundred subscriptions with the lowest concurrency limits, if those are below the initial limit.",
      },
    ),
  },
  { title: "Process", description: "A process of the service, from its last report." },
);

export const ProcessList = Type.Object(
  { items: Type.Array(Process), unreachable: Unreachable },
  { title: "ProcessList", description: "Processes, latest start first." },
);
