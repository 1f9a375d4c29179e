import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { listMarks, type Mark, putMark } from "./marks.ts";

const PATIENCE_MS = 6 * 60_000;

/**
 * Runs `work` while no other process is in such a section over the same folder. A holder that is
 * killed holds nothing: only the marks of living processes count.
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

// First leave a mark, then look: of two who try at once at least one sees the other and steps
// back. Nobody ever has to take over a dead holder's file, which cannot be done without a race.
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
      throw new Error(`another process has been busy with ${resolve(folder)} for minutes`);
    }
    await sleep(10 + Math.random() * 30);
  }
}
