import { accept } from "./accept.ts";
import { activity } from "./activity.ts";
import { accepting } from "./accepting.ts";
import { across } from "./across.ts";
import { audit } from "./audit.ts";
import { bridge } from "./bridge.ts";
import { claimCost } from "./claim-cost.ts";
import { cost } from "./cost.ts";
import { drainHundred, drainThousands } from "./drain.ts";
import { fanOut } from "./fan-out.ts";
import { fairness } from "./fairness.ts";
import { growth } from "./growth.ts";
import { history } from "./history.ts";
import { idempotency } from "./idempotency.ts";
import { identity } from "./identity.ts";
import { idleLatency } from "./idle-latency.ts";
import { keys } from "./keys.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { plot } from "./plot.ts";
import { slots } from "./slots.ts";
import { start } from "./start.ts";
import { split } from "./split.ts";
import { slowReceivers } from "./slow-receivers.ts";
import { trace } from "./trace.ts";
import { tracing } from "./tracing.ts";
import { statements } from "./statements.ts";
import { neighbours } from "./neighbours.ts";
import { publish } from "./publish.ts";
import { publishOverHttp } from "./publish-over-http.ts";
import { roles } from "./roles.ts";
import { steady } from "./steady.ts";
import { workers } from "./workers.ts";
import type { Scenario } from "./support/scenario.ts";

/** In order of execution. */
export const SCENARIOS: Scenario[] = [
  drainHundred,
  drainThousands,
  accept,
  idempotency,
  identity,
  keys,
  latency,
  idleLatency,
  trace,
  across,
  split,
  workers,
  claimCost,
  fairness,
  neighbours,
  slowReceivers,
  accepting,
  plot,
  audit,
  publish,
  publishOverHttp,
  bridge,
  roles,
  fanOut,
  statements,
  cost,
  memory,
  slots,
  growth,
  activity,
  tracing,
  history,
  steady,
  start,
];
