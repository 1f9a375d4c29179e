import { Type } from "typebox";
import { nullable, textOrNull, Timestamp } from "../../http/schema.ts";
import { BRIDGE_STATES, PROBLEM_MAX, SOURCES_REPORTED } from "./rules.ts";

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });

export const BridgeParams = Type.Object({ id: Type.String({ description: "`brg_<uuid>`" }) });

export const BridgeReportRequest = Type.Object(
  {
    version: text(100),
    host: text(255),
    pid: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
    sources: Type.Array(
      Type.Object({
        name: text(64),
        kind: text(64),
        problem: nullable(text(PROBLEM_MAX)),
        lag_messages: nullable(Count),
        lag_bytes: nullable(Count),
        published: Count,
        set_aside: Count,
      }),
      { maxItems: SOURCES_REPORTED },
    ),
  },
  { title: "BridgeReport", description: "What a bridge says of itself, every 10 s." },
);

export const Bridge = Type.Object(
  {
    id: Type.String({ description: "`brg_<uuid>`" }),
    version: Type.String(),
    host: Type.String(),
    pid: Type.Integer(),
    started_at: Timestamp,
    last_seen_at: Timestamp,
    state: Type.String({
      enum: [...BRIDGE_STATES],
      description: "`gone`: it has not reported for 30 s. It leaves the overview after a day.",
    }),
    sources: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          kind: Type.String(),
          problem: textOrNull("Why it does not publish now; null if it does, or would."),
          lag_messages: nullable(
            Type.Integer({
              description: "Messages that are not settled; null if the source does not know.",
            }),
          ),
          lag_bytes: nullable(
            Type.Integer({ description: "The same in bytes, for sources that count these." }),
          ),
          published: Type.Integer({ description: "Events, since the start of the bridge." }),
          set_aside: Type.Integer({
            description: "Messages that can never be published, since the start.",
          }),
        },
        { title: "BridgedSource", description: "A source of a bridge." },
      ),
    ),
  },
  { title: "Bridge", description: "A bridge, from its last report." },
);
