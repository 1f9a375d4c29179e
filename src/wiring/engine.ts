import type { Logger } from "pino";
import { type Consequences, postpone, recordAttempts } from "../actions/attempts.ts";
import { claimDeliveries } from "../actions/claims.ts";
import type { Attempt, Claim } from "../domain/attempt.ts";
import { dueOf } from "../actions/notices.ts";
import type { Foundations } from "../actions/dependencies.ts";
import type { Config } from "../config.ts";
import { createDeliverer } from "../delivery/deliver.ts";
import { Dispatcher, type DispatcherOptions } from "../delivery/dispatcher.ts";
import { Due, type DueOptions } from "../delivery/due.ts";
import { createRecorder } from "../delivery/recorder.ts";
import { Slots } from "../delivery/slots.ts";
import type { Send } from "../delivery/sender.ts";
import { DEFERRED_DELAY_MS } from "../domain/delivery.ts";
import { NO_TRACER, type Tracer } from "../lib/tracing.ts";
import { isTransient, isUnavailable } from "../postgres/database.ts";
import { listDueSubscriptions } from "../postgres/due-scan.ts";
import { createDeliveryLog, namesOf } from "./delivery-log.ts";
import type { NoteFault } from "./fault-log.ts";
import type { Writes } from "./writes.ts";

/** How often the dispatcher looks for deliveries of other processes and for those that became due. */
const POLL_INTERVAL_MS = 100;
/** A slower statement is abandoned, and the next one tries another connection. */
const STATEMENT_MS = 10_000;

/** Connects the parts of the delivery engine: claim → attempt → decide → record. */
export function createEngine(
  foundations: Foundations,
  config: Config,
  {
    send,
    writes,
    slots = new Slots(config.dispatchConcurrency, config.subscriptionConcurrency),
    isGivenUp = () => false,
    log,
    tracer = NO_TRACER,
    onContended,
    onEnded,
    onRecorded,
    onInternalFault,
    onError,
  }: {
    send: Send;
    writes: Writes;
    slots?: Slots;
    /** Returns true if outcomes that the database does not take are abandoned at once. */
    isGivenUp?: () => boolean;
    log: Logger;
    /** Default: nothing is traced. */
    tracer?: Tracer;
    onContended: DispatcherOptions["onContended"];
    onEnded: (attempt: Attempt) => void;
    onRecorded: (consequences: Consequences) => void;
    onInternalFault: NoteFault;
    onError: (error: unknown) => void;
  },
): Dispatcher {
  const { clock } = foundations;
  const lines = createDeliveryLog(log);
  const inTime = () => ({ ...foundations, db: foundations.db.within(STATEMENT_MS) });
  const persistence = {
    isTransient: (error: unknown) => isTransient(error) && !isGivenUp(),
    onRetry: (error: unknown) => {
      if (isUnavailable(error)) onError(error);
    },
    giveUpAfterMs: foundations.rules.leaseMs,
  };
  const scanning: DueOptions = {
    listDue: (page) => listDueSubscriptions(inTime().db, { now: clock(), ...page }),
    pollIntervalMs: POLL_INTERVAL_MS,
  };
  const due = new Due(scanning, (id) => slots.isAtLimit(id));
  const record = createRecorder<Attempt>(async (attempts) => {
    const consequences = await writes.note(recordAttempts(inTime(), attempts));
    onRecorded(consequences);
    lines.recorded(attempts, consequences);
    if (consequences.notices.length > 0) due.nudge(dueOf(consequences.notices));
  }, persistence);

  const defer = createRecorder<Claim>(
    (claims) => postpone(inTime(), claims, DEFERRED_DELAY_MS),
    persistence,
  );
  const deliver = createDeliverer({
    send,
    clock,
    tracer,
    tellsReceivers: config.tracing?.tellsReceivers ?? false,
    record: (attempt) =>
      record(attempt).catch((error: unknown) => {
        lines.abandoned(attempt);
        throw error;
      }),
    postpone: createRecorder<Claim>((claims) => postpone(inTime(), claims), persistence),
    defer,
    onEnded: (attempt) => {
      onEnded(attempt);
      lines.ended(attempt);
    },
    onInternalFault: (fault, claim, error) => {
      onInternalFault(
        fault,
        namesOf(claim),
        "the delivery waits a minute, and no attempt is counted",
        error,
      );
    },
  });

  return new Dispatcher({
    ...scanning,
    due,
    slots,
    // If outcomes cannot be recorded, claims would only repeat attempts whose leases then expire.
    requireDatabase: async (hasFailed) => {
      if (hasFailed || writes.hasFailed()) await writes.check();
    },
    claim: (wanted) => claimDeliveries(inTime(), wanted),
    deliver,
    defer,
    onContended,
    concurrency: config.dispatchConcurrency,
    subscriptionConcurrency: config.subscriptionConcurrency,
    onError,
  });
}
