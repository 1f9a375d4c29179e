import { Ago } from "../components/time.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import type { Mark } from "./marks.ts";

const SHOWN_MAX = 6;

const ICONS: Record<Mark["kind"], IconName> = {
  started: "play",
  stopped: "stop",
  disabled: "dot",
  release: "types",
  changed: "changes",
};

/** The marks of a chart in words, the latest first. */
export function MarkList({ marks }: { marks: Mark[] }) {
  if (marks.length === 0) return null;
  const latest = [...marks].sort((a, b) => b.at.getTime() - a.at.getTime());
  return (
    <ul class="marks" aria-label="Changes marked on the chart">
      {latest.slice(0, SHOWN_MAX).map(({ at, kind, label }) => (
        <li key={`${label} ${at.toISOString()}`}>
          <Icon name={ICONS[kind]} size={12} />
          <span>
            {label}, <Ago at={at.toISOString()} />
          </span>
        </li>
      ))}
      {latest.length > SHOWN_MAX && <li>and {latest.length - SHOWN_MAX} more</li>}
    </ul>
  );
}
