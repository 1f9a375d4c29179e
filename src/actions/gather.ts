import { PartnerError } from "../domain/errors.ts";

/** More calls than this wait for nothing but a database that has come to a halt. */
const WAITING_MAX = 10_000;

/**
 * Makes one batch of the calls that come in during a tick, or while the batch before is still under way.
 *
 * `run` answers as many results as it got items, in their order; when it throws, every call of that batch throws.
 */
export function gather<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  { max, concurrency = 1 }: { max: number; concurrency?: number },
): (item: Item) => Promise<Result> {
  interface Call {
    item: Item;
    resolve: (result: Result) => void;
    reject: (error: unknown) => void;
  }
  const waiting: Call[] = [];
  let running = 0;
  let scheduled = false;

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length >= WAITING_MAX) {
        reject(new PartnerError("unavailable", "Too many requests wait.", { retryAfter: 5 }));
        return;
      }
      waiting.push({ item, resolve, reject });
      schedule();
    });

  function schedule(): void {
    if (scheduled || running >= concurrency || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void runBatch(waiting.splice(0, max));
      schedule();
    });
  }

  async function runBatch(calls: Call[]): Promise<void> {
    running++;
    try {
      const results = await run(calls.map((call) => call.item));
      calls.forEach((call, index) => {
        call.resolve(results[index] as Result);
      });
    } catch (error) {
      for (const call of calls) call.reject(error);
    } finally {
      running--;
      schedule();
    }
  }
}
