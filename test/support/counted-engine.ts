import { randomUUID } from "node:crypto";
import { writeActivity } from "../../src/jobs/activity.ts";
import type { Database } from "../../src/postgres/database.ts";
import { countRecorded } from "../../src/subjects/activity/counted.ts";
import { attemptAll, claimAll, createEngine } from "./engine.ts";

/** An engine whose activity is counted and written, as by one process. */
export async function aCountedEngine(
  db: Database,
  overrides: Parameters<typeof createEngine>[1] = {},
) {
  const engine = await createEngine(db, overrides);
  await db`delete from processes`;
  await db`delete from activity_minutes`;
  const { deps } = engine;
  const processId = randomUUID();
  return {
    ...engine,
    attempt: async (answer: Parameters<typeof attemptAll>[2]) => {
      countRecorded(deps.activity, await attemptAll(deps, await claimAll(deps), answer));
      await writeActivity(db, deps.activity, processId);
    },
  };
}

/** A process in its own report. */
export const identity = {
  id: randomUUID(),
  role: "all",
  version: "1.0.0",
  host: "one",
  pid: 1,
} as const;

export const REPORT = {
  isStopping: false,
  attemptsUnderWay: 0,
  slots: null,
  lastRecordedAt: null,
  organizations: [],
  slowed: [],
  problems: [],
};
