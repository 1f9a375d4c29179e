import { PartnerError } from "../domain/errors.ts";

export interface GatherOptions {
  /** Calls in one batch at the most. */
  max: number;
  paceMs?: number;
  /** How long a batch may take until its callers are told that it takes too long; without it they wait. */
  patienceMs?: number;
}

/** More calls than this wait for nothing but a database that has come to a halt. */
const WAITING_MAX = 10_000;
const RETRY_AFTER_SECONDS = 5;
/** Behind a database that has come to a halt, the next batch finds out in this share of the patience. */
const ONCE_BITTEN = 1 / 10;

/**
 * Makes one batch of the calls that come in during a tick, or while the batch before is still under way.
 *
 * A call that comes alone goes at once. Where calls come together, the next batch starts no sooner than `paceMs`
 * after the one before, so that it holds more of them: a statement costs more than a row.
 *
 * `run` answers as many results as it got items, in their order; when it throws, every call of that batch throws.
 * While one takes longer than `patienceMs`, every call throws at once: nothing piles up. What comes after it is
 * waited for but briefly, until something succeeds.
 */
export function gather<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  { max, paceMs = 0, patienceMs }: GatherOptions,
): (item: Item) => Promise<Result> {
  interface Call {
    item: Item;
    resolve: (result: Result) => void;
    reject: (error: unknown) => void;
  }
  const waiting: Call[] = [];
  let busy = false;
  let overdue = false;
  let hasHalted = false;
  let nextStartMs = 0;

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length >= WAITING_MAX || overdue) {
        reject(halted());
        return;
      }
      waiting.push({ item, resolve, reject });
      schedule();
    });

  function schedule(): void {
    if (busy || waiting.length === 0) return;
    busy = true;
    const leftMs = nextStartMs - performance.now();
    if (leftMs > 0 && waiting.length < max) setTimeout(() => void runBatch(), leftMs);
    else setImmediate(() => void runBatch());
  }

  async function runBatch(): Promise<void> {
    const calls = waiting.splice(0, max);
    nextStartMs = calls.length > 1 ? performance.now() + paceMs : 0;
    const patience = patienceMs && setTimeout(giveUp, patienceMs * (hasHalted ? ONCE_BITTEN : 1));
    try {
      const results = await run(calls.map((call) => call.item));
      hasHalted = false;
      calls.forEach((call, index) => {
        call.resolve(results[index] as Result);
      });
    } catch (error) {
      for (const call of calls) call.reject(error);
    } finally {
      clearTimeout(patience);
      busy = overdue = false;
      schedule();
    }

    /** Whatever `run` still comes to, nobody waits for it any more. */
    function giveUp(): void {
      overdue = hasHalted = true;
      for (const call of [...calls, ...waiting.splice(0)]) call.reject(halted());
    }
  }
}

function halted(): PartnerError {
  return new PartnerError("unavailable", "The service cannot answer just now: try again.", {
    retryAfter: RETRY_AFTER_SECONDS,
  });
}
