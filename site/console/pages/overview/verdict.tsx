import type { Overview } from "../../api/shapes.ts";
import { Icon, type IconName } from "../../components/icon.tsx";
import { count, percent, plural } from "../../components/numbers.ts";
import { Since } from "../../components/time.tsx";
import { spanInWords } from "../../components/time-words.ts";

const LOOKS: Record<Overview["status"], [tone: string, icon: IconName, word: string]> = {
  ok: ["good", "check", "Healthy"],
  degraded: ["warn", "warning", "Degraded"],
  down: ["bad", "dead", "Down"],
};

/** One sentence that says whether the service is healthy, and if not, why. */
export function Verdict({ overview }: { overview: Overview }) {
  const { status, problems } = overview;
  const [tone, icon, word] = LOOKS[status];
  const [first, ...others] = problems;
  return (
    <section class={`verdict ${tone}`} aria-label="State of the service" aria-live="polite">
      <Icon name={icon} size={28} />
      <p>
        {word}: {first ? first.detail : healthySentence(overview)}
      </p>
      <ul>
        {first?.since && (
          <li class="under">
            <Since at={first.since} />
          </li>
        )}
        {others.map(({ code, detail, since }) => (
          <li key={code}>
            {detail}{" "}
            {since && (
              <span class="under">
                <Since at={since} />
              </span>
            )}
          </li>
        ))}
        {!first && <li class="under">{daySentence(overview)}</li>}
      </ul>
    </section>
  );
}

function healthySentence({ now }: Overview): string {
  const { success_share: share, oldest_due_seconds: oldest, waiting } = now;
  const attempts =
    share === null
      ? "nothing was attempted in the last minute"
      : `${percent(share)} of the latest attempts succeeded`;
  if (!waiting.due) return `${attempts}, and nothing is overdue.`;
  return `${attempts}, and the oldest delivery has been due for ${spanInWords(oldest ?? 0)}.`;
}

function daySentence({ last_24h: day }: Overview): string {
  const parts = [
    plural(day.published ?? 0, "event"),
    `${count(day.delivered ?? 0)} delivered`,
    `${count(day.dead_lettered ?? 0)} dead-lettered`,
    `${count(day.cancelled ?? 0)} cancelled`,
    `${plural(day.disabled ?? 0, "subscription")} disabled`,
  ];
  return `In the last 24 hours: ${parts.join(", ")}.`;
}
