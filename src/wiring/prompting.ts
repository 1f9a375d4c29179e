import { Announcements } from "../actions/announcements.ts";
import type { Dependencies } from "../actions/dependencies.ts";
import { NO_SLOTS } from "../actions/reservation.ts";
import type { Dispatcher } from "../delivery/dispatcher.ts";
import { decodeNotice } from "../domain/due-notice.ts";
import type { Database } from "../postgres/database.ts";
import { hearNotices, sendNotice } from "../postgres/due-notices.ts";

type Nudged = Pick<Dispatcher, "nudge" | "reserve" | "isFull">;

/** A notice that takes longer is abandoned. */
const NOTICE_MS = 1_000;

export interface Prompting extends Pick<Dependencies, "nudge" | "reserve"> {
  /** Resolves once notices are heard. */
  listening: Promise<void>;
  stop: () => Promise<void>;
}

/**
 * What is published is attempted within milliseconds, not at the next poll. The dispatcher of this process is nudged. Where
 * there is none, or it has no slot, a notice nudges those of the other processes.
 */
export function startPrompting(db: Database, dispatcher: Nudged | null): Prompting {
  const announcements = new Announcements((notice) => sendNotice(db.within(NOTICE_MS), notice));
  const heard = dispatcher && hearNotices(db, (notice) => dispatcher.nudge(decodeNotice(notice)));
  return {
    nudge: (due) => {
      dispatcher?.nudge(due);
      if (dispatcher?.isFull ?? true) announcements.add(due);
    },
    reserve: () => dispatcher?.reserve() ?? NO_SLOTS,
    listening: heard?.listening ?? Promise.resolve(),
    stop: async () => {
      await announcements.stop();
      await heard?.stop();
    },
  };
}
