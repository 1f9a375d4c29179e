import { useNow } from "./use-now.ts";
import { exactly, relatively } from "./time-words.ts";

/** "3 min ago", with the exact time on hover. */
export function Ago({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span class="quiet">–</span>;
  return (
    <time dateTime={at} title={exactly(at)}>
      {relatively(new Date(at), now)}
    </time>
  );
}

/** The exact local time, with UTC beside it. */
export function Moment({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span class="quiet">–</span>;
  return (
    <time dateTime={at} title={exactly(at)}>
      {local(at)} <span class="quiet">({relatively(new Date(at), now)})</span>
    </time>
  );
}

/** "since 03:12:40, 8 min ago". */
export function Since({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={exactly(at)}>
      since {CLOCK.format(new Date(at))}, {relatively(new Date(at), now)}
    </time>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });

const LOCAL = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

const local = (at: string) => LOCAL.format(new Date(at));
