import { Addressees, readFleet } from "../actions/addressees.ts";
import { Announcements } from "../actions/announcements.ts";
import type { Dependencies } from "../actions/dependencies.ts";
import { NO_SLOTS, type Reservation } from "../actions/publication.ts";
import type { Dispatcher } from "../delivery/dispatcher.ts";
import { Hearing } from "../delivery/hearing.ts";
import type { Clock } from "../domain/clock.ts";
import type { DueSubscription } from "../domain/due-notice.ts";
import type { ProcessId } from "../domain/ids.ts";
import { inSpans } from "../lib/tracing.ts";
import type { Database } from "../postgres/database.ts";
import { listenForNotices, sendNotice } from "../postgres/due-notices.ts";

type Nudged = Pick<Dispatcher, "nudge" | "hear" | "reserve" | "isFull" | "isHearing">;

/** A slower notice is abandoned. */
const NOTICE_MS = 1_000;

export interface Nudging extends Pick<Dependencies, "nudge" | "reserve"> {
  /** Resolves when notices are received. */
  listening: Promise<void>;
  stop: () => Promise<void>;
}

/**
 * Makes published deliveries start within milliseconds instead of at the next poll. Nudges the dispatcher of this process. If
 * it is full, sends a notice, which nudges those of all other processes. Without a dispatcher, each notice is for one of them.
 */
export function startNudging(
  { db, clock }: { db: Database; clock: Clock },
  processId: ProcessId,
  dispatcher: Nudged | null,
): Nudging {
  const inTime = () => db.within(NOTICE_MS);
  const send = (notice: string) => sendNotice(inTime(), notice);
  const addressees = new Addressees(() => readFleet(inTime(), clock));
  const announcements = new Announcements(send, dispatcher ? null : addressees);
  const passOn = (due: DueSubscription[]) => announcements.add(due);
  const hearing = dispatcher && new Hearing(dispatcher, { self: processId, passOn });
  const heard = hearing && listenForNotices(db, (notice) => hearing.hear(notice));
  return {
    nudge: (due) => {
      inSpans([], () => {
        dispatcher?.nudge(due);
        if (dispatcher?.isFull ?? true) announcements.add(due);
      });
    },
    reserve: (organizations) => (dispatcher ? apart(dispatcher.reserve(organizations)) : NO_SLOTS),
    listening: heard?.listening ?? Promise.resolve(),
    stop: async () => {
      await announcements.stop();
      await heard?.stop();
    },
  };
}

/** The attempts that begin with a publication, and the records of their outcomes, are no part of its request's span. */
function apart({ slots, except, end }: Reservation): Reservation {
  return { slots, except, end: (claims) => inSpans([], () => end(claims)) };
}
