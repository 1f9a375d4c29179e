import type { Logger } from "pino";
import { type Ended, postpone, type Recorded, recordEnded } from "../actions/attempts.ts";
import { type Claim, claimDeliveries } from "../actions/claims.ts";
import type { Dependencies } from "../actions/dependencies.ts";
import type { Config } from "../config.ts";
import { createDeliverer } from "../delivery/deliver.ts";
import { Dispatcher } from "../delivery/dispatcher.ts";
import { createRecorder } from "../delivery/recorder.ts";
import type { Sender } from "../delivery/sender.ts";
import { DEFERRED_DELAY_MS } from "../domain/delivery.ts";
import { type SubscriptionId, publicId } from "../domain/ids.ts";
import { isTransient, isUnavailable } from "../postgres/database.ts";
import { listDueSubscriptions } from "../postgres/waiting-deliveries.ts";
import type { NoteFault } from "./fault-log.ts";

/** How often we look for what other processes accepted and for what became due. */
const POLL_INTERVAL_MS = 100;

/** Puts the delivery engine together: claim → attempt → decide → record. */
export function createEngine(
  deps: Dependencies,
  config: Config,
  {
    send,
    log,
    onEnded,
    onRecorded,
    onOurFault,
    onError,
  }: {
    send: Sender["send"];
    log: Logger;
    onEnded: (ended: Ended) => void;
    onRecorded: (recorded: Recorded) => void;
    onOurFault: NoteFault;
    onError: (error: unknown) => void;
  },
): Dispatcher {
  const persistence = {
    isTransient,
    onRetry: (error: unknown) => {
      if (isUnavailable(error)) onError(error);
    },
    giveUpAfterMs: deps.rules.leaseMs,
  };
  const record = createRecorder<Ended>(async (ended) => {
    const recorded = await recordEnded(deps, ended);
    onRecorded(recorded);
    for (const { delivery_id: id, subscription_id, reason } of recorded.deadLettered) {
      log.warn({ ...namesOf({ id, subscription_id }), reason }, "delivery dead-lettered");
    }
    for (const id of recorded.disabled) {
      log.warn({ subscription: publicId("wh", id) }, "subscription auto-disabled");
    }
  }, persistence);

  const deliver = createDeliverer({
    send,
    clock: deps.clock,
    record,
    postpone: createRecorder<Claim>((claims) => postpone(deps, claims), persistence),
    defer: createRecorder<Claim>(
      (claims) => postpone(deps, claims, DEFERRED_DELAY_MS),
      persistence,
    ),
    onEnded,
    onOurFault: (fault, claim, error) => {
      onOurFault(
        fault,
        namesOf(claim),
        "the delivery waits a minute, no attempt is counted",
        error,
      );
    },
  });

  return new Dispatcher({
    listDue: (page) => listDueSubscriptions(deps.db, { now: deps.clock(), ...page }),
    claim: (wanted) => claimDeliveries(deps, wanted),
    deliver,
    concurrency: config.dispatchConcurrency,
    subscriptionConcurrency: config.subscriptionConcurrency,
    pollIntervalMs: POLL_INTERVAL_MS,
    onError,
  });
}

function namesOf({ id, subscription_id }: { id: string; subscription_id: SubscriptionId }) {
  return { delivery: publicId("dlv", id), subscription: publicId("wh", subscription_id) };
}
