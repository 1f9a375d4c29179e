import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { listMarks, type Mark, putMark } from "./marks.ts";

const PATIENCE_MS = 6 * 60_000;

/**
 * Runs `work` under a lock on the folder. A killed holder loses the lock, because only the marks of living processes count.
 */
export async function withLock<T>(
  folder: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const mark = await acquire(folder, signal);
  try {
    return await work();
  } finally {
    await mark.remove();
  }
}

// A process leaves its mark before it looks for others. Of two at once, at least one sees the other and steps back. So no process
// has to take over the file of a dead holder, which would be a race.
async function acquire(folder: string, signal?: AbortSignal): Promise<Mark> {
  const since = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    if ((await listMarks(folder)).length === 0) {
      const mark = await putMark(folder);
      if ((await listMarks(folder)).every((other) => other === mark.name)) return mark;
      await mark.remove();
    }
    if (performance.now() - since > PATIENCE_MS) {
      throw new Error(
        `another process has locked ${resolve(folder)} for 6 minutes: end the other processes that use DATA_DIR`,
      );
    }
    await sleep(10 + Math.random() * 30);
  }
}
