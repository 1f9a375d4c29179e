import { Busy } from "../domain/errors.ts";

export interface GatherOptions {
  /** Calls in one batch at the most. */
  max: number;
  /** Calls that are worth a batch at once; without it as many as one can hold. */
  enough?: number;
  paceMs?: number;
  /** Calls that may wait for a batch: one more is refused at once. */
  waitingMax?: number;
  /** How long a batch may take until its callers are told that it takes too long; without it they wait. */
  patienceMs?: number;
}

/** More calls than this wait for nothing but a database that has come to a halt. */
const WAITING_MAX = 10_000;
/** After a batch that took too long, the next ones have this share of the patience, until one succeeds. */
const SHARE_AFTER_HALT = 1 / 10;

/**
 * Makes one batch of the calls that come in during a tick, or while the batch before is still under way.
 *
 * A call that comes alone goes at the end of its tick. Where calls come together, the next batch starts no sooner than
 * `paceMs` after the one before, so that it holds more of them: a statement costs more than a row. But where `enough`
 * are together they wait for nothing else: the database works on them while the rest of the tick brings the next ones.
 *
 * `run` answers as many results as it got items, in their order; when it throws, every call of that batch throws.
 * While one takes longer than `patienceMs`, every call throws at once: nothing piles up. What comes after it is
 * waited for but briefly, until something succeeds.
 */
export function gather<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  { max, enough = max, paceMs = 0, waitingMax = WAITING_MAX, patienceMs }: GatherOptions,
): (item: Item) => Promise<Result> {
  interface Call {
    item: Item;
    resolve: (result: Result) => void;
    reject: (error: unknown) => void;
  }
  const waiting: Call[] = [];
  let isBusy = false;
  let isPlanned = false;
  let overdue = false;
  let hasHalted = false;
  let nextStartMs = 0;

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length >= waitingMax || overdue) {
        reject(new Busy());
        return;
      }
      waiting.push({ item, resolve, reject });
      schedule();
    });

  /** Enough calls go at once, fewer at the end of the tick or when their time has come. */
  function schedule(): void {
    if (isBusy || waiting.length === 0) return;
    if (waiting.length >= enough) {
      void runBatch();
      return;
    }
    if (isPlanned) return;
    isPlanned = true;
    const leftMs = nextStartMs - performance.now();
    if (leftMs > 0) setTimeout(runPlanned, leftMs);
    else setImmediate(runPlanned);
  }

  function runPlanned(): void {
    isPlanned = false;
    if (!isBusy && waiting.length > 0) void runBatch();
  }

  /** What has waited for a batch follows it without waiting for the end of the tick as well. */
  function goOn(): void {
    if (waiting.length > 0 && performance.now() >= nextStartMs) void runBatch();
    else schedule();
  }

  async function runBatch(): Promise<void> {
    isBusy = true;
    const calls = waiting.splice(0, max);
    nextStartMs = calls.length > 1 ? performance.now() + paceMs : 0;
    const patience =
      patienceMs && setTimeout(giveUp, patienceMs * (hasHalted ? SHARE_AFTER_HALT : 1));
    let tell: (call: Call, index: number) => void;
    try {
      const results = await run(calls.map((call) => call.item));
      hasHalted = false;
      tell = (call, index) => {
        call.resolve(results[index] as Result);
      };
    } catch (error) {
      tell = (call) => {
        call.reject(error);
      };
    }
    clearTimeout(patience);
    isBusy = overdue = false;
    goOn(); // The database works on while these callers go about their answers.
    calls.forEach(tell);

    /** Whatever `run` still comes to, nobody waits for it any more. */
    function giveUp(): void {
      overdue = hasHalted = true;
      for (const call of [...calls, ...waiting.splice(0)]) call.reject(new Busy());
    }
  }
}
