import { FairQueue } from "./fair-queue.ts";
import { currentSpans, inSpans, type Span } from "./tracing.ts";

export interface BatchOptions {
  /** The most calls in one batch, or the most that they may weigh together. */
  max: number;
  /** A batch of this many calls starts at once. Default: `max`. */
  enough?: number;
  paceMs?: number;
  /** How long the first call of a batch waits for others. Default: until the end of its tick. */
  waitMs?: number;
  /** The most calls that may wait for a batch. One more is refused. */
  waitingMax?: number;
  /** How long a batch may take before its callers get an error. Default: no limit. */
  patienceMs?: number;
  /** Returns the error of a refused call. Default: a plain error. */
  refuse?: (why: Refusal) => Error;
}

/** Why a call is refused: too many wait, or a batch takes too long. */
export type Refusal = "full" | "overdue";

const WAITING_MAX = 10_000;
/** After a batch that took too long, the next ones get this share of the patience, until one succeeds. */
const SHARE_AFTER_HALT = 1 / 10;

/**
 * Batches the calls of a tick, and those that come in while a batch runs.
 *
 * A single call starts at the end of its tick. After a batch of several calls, the next batch starts no sooner than `paceMs`
 * later, so that it holds more of them, because a statement costs more than a row. A batch of `enough` calls starts at once, so
 * that the database works while the tick goes on.
 *
 * If more calls wait than a batch holds, those with different `holderOf` take turns. So a newcomer's call goes with the next batch,
 * however many calls of another holder came before it.
 *
 * An item that weighs more than `max` has a batch of its own.
 *
 * `run` returns one result for each item, in their order. If it throws, every call of that batch throws. If it takes longer
 * than `patienceMs`, its calls, the waiting ones and all new ones until it ends throw at once, so that no backlog grows. The
 * next batches get less patience until one succeeds.
 */
export function batch<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  {
    max,
    enough = max,
    paceMs = 0,
    waitMs = 0,
    waitingMax = WAITING_MAX,
    patienceMs,
    refuse = (why) => new Error(`refused: ${why}`),
  }: BatchOptions,
  holderOf?: (item: Item) => string,
  weightOf?: (item: Item) => number,
): (item: Item) => Promise<Result> {
  interface Call {
    item: Item;
    spans: readonly Span[];
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
        reject(refuse(overdue ? "overdue" : "full"));
        return;
      }
      waiting.push({ item, spans: currentSpans(), resolve, reject });
      if (waitMs > 0 && waiting.length === 1) nextStartMs = performance.now() + waitMs;
      schedule();
    });

  /** Starts a batch of `enough` calls at once, and a smaller one at the end of the tick or when `paceMs` has passed. */
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

  /** Starts the next batch when one has ended, without waiting for the end of the tick. */
  function goOn(): void {
    if (waiting.length > 0 && performance.now() >= nextStartMs) void runBatch();
    else schedule();
  }

  function takeCalls(): Call[] {
    const fits = !weightOf && (!holderOf || waiting.length <= max);
    if (fits) return waiting.splice(0, max);
    const inTurn = new FairQueue<string, Call>();
    for (const call of waiting.splice(0)) inTurn.add(holderOf?.(call.item) ?? "", call);
    const calls: Call[] = [];
    let room = max;
    for (let call = inTurn.take(); call; call = inTurn.take()) {
      const weight = weightOf?.(call.item) ?? 1;
      if (weight <= room || calls.length === 0) calls.push(call);
      else waiting.push(call);
      room -= weight;
    }
    return calls;
  }

  async function runBatch(): Promise<void> {
    isBusy = true;
    const calls = takeCalls();
    nextStartMs = calls.length > 1 ? performance.now() + paceMs : 0;
    const patience =
      patienceMs && setTimeout(giveUp, patienceMs * (hasHalted ? SHARE_AFTER_HALT : 1));
    let tell: (call: Call, index: number) => void;
    try {
      const results = await inSpans(spansOf(calls), () => run(calls.map((call) => call.item)));
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
    goOn(); // The database works while these callers continue.
    calls.forEach(tell);

    /** The result of `run` is ignored from here on. */
    function giveUp(): void {
      overdue = hasHalted = true;
      for (const call of [...calls, ...waiting.splice(0)]) call.reject(refuse("overdue"));
    }
  }
}

/** A batch belongs to the traces of all its callers, and not to that of the caller which happens to start it. */
function spansOf(calls: { spans: readonly Span[] }[]): readonly Span[] {
  const isTraced = calls.some((call) => call.spans.length > 0);
  return isTraced ? [...new Set(calls.flatMap((call) => call.spans))] : [];
}
