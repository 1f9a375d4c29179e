import type { Change, Process, Subscription } from "../../api/shapes.ts";
import type { Mark } from "../../charts/marks.ts";

/** What changed about the service: processes, releases, subscriptions that were disabled, and what operators did. */
export function marksOf(processes: Process[], disabled: Subscription[], changes: Change[]): Mark[] {
  const byStart = [...processes].sort((a, b) => a.started_at.localeCompare(b.started_at));
  const starts = byStart.map((one, index): Mark => {
    const before = byStart[index - 1]?.version;
    const isRelease = before !== undefined && before !== one.version;
    return {
      at: new Date(one.started_at),
      kind: isRelease ? "release" : "started",
      label: isRelease
        ? `release ${one.version} started on ${one.host}`
        : `${one.host} ${one.pid} started`,
    };
  });
  const stops = processes
    .filter(({ state }) => state === "gone")
    .map(({ host, pid, last_seen_at: at }): Mark => ({
      at: new Date(at),
      kind: "stopped",
      label: `${host} ${pid} stopped`,
    }));
  const disablings = disabled.flatMap(({ url, auto_disabled_at: at }): Mark[] =>
    at === null
      ? []
      : [{ at: new Date(at), kind: "disabled", label: `${hostOf(url)} was auto-disabled` }],
  );
  const deeds = changes
    .filter(({ action }) => !action.startsWith("read_"))
    .map(({ at, operator, action }): Mark => ({
      at: new Date(at),
      kind: "changed",
      label: `${operator}: ${action.replaceAll("_", " ")}`,
    }));
  return [...starts, ...stops, ...disablings, ...deeds];
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url;
}
