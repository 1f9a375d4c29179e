import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "../../src/postgres/database.ts";

/** Thrown at the statement where a process dies. */
export class Broken extends Error {}

/** Runs the work, which calls `pass` before each statement, and breaks it off before statement number `at`. */
export async function breakOff<Result>(
  work: (pass: () => Promise<void>) => Promise<Result>,
  at: number,
): Promise<Result | Broken> {
  let statement = 0;
  const pass = () => (statement++ === at ? Promise.reject(new Broken()) : Promise.resolve());
  return orBroken(work(pass));
}

/**
 * Runs the work and pauses it before statement number `at`, until `meanwhile` is done or waits for
 * a lock. The order is the same in every run, although two transactions are open. With `breaks`,
 * the work dies after the pause.
 */
export async function holdUp<Result, Other>(
  db: Database,
  work: (pass: () => Promise<void>) => Promise<Result>,
  { at, breaks }: { at: number; breaks: boolean },
  meanwhile: () => Promise<Other>,
): Promise<[Result | Broken, Other]> {
  let statement = 0;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let reach: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const pass = async () => {
    if (statement++ !== at) return;
    reach();
    await released;
    if (breaks) throw new Broken();
  };

  const first = orBroken(work(pass));
  await Promise.race([first, reached]);
  const second = meanwhile();
  await Promise.race([second, blocked(db, second)]);
  release();
  return Promise.all([first, second]);
}

async function orBroken<Result>(work: Promise<Result>): Promise<Result | Broken> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Broken) return error;
    throw error;
  }
}

/** Resolves when something in this database waits for a lock, or when the work is done. */
async function blocked(db: Database, work: Promise<unknown>): Promise<void> {
  const over = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([over, delay(1, false)]))) {
    const [waits] = await db`
      select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`;
    if (waits) return;
  }
}
