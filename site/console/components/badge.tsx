import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

export type Tone = "good" | "bad" | "warn" | "info" | "neutral";

const STATES: Record<string, [Tone, IconName, string]> = {
  waiting: ["info", "clock", "waiting"],
  delivered: ["good", "check", "delivered"],
  dead_lettered: ["bad", "dead", "dead_lettered"],
  cancelled: ["neutral", "ban", "cancelled"],
  failed: ["bad", "cross", "failed"],
  active: ["good", "check", "active"],
  held: ["warn", "pause", "held"],
  "auto-disabled": ["bad", "ban", "auto-disabled"],
  deleted: ["neutral", "ban", "deleted"],
  closed: ["neutral", "ban", "closed"],
  revoked: ["neutral", "ban", "revoked"],
  running: ["good", "play", "running"],
  stopping: ["warn", "pause", "stopping"],
  gone: ["bad", "cross", "gone"],
  queued: ["info", "clock", "queued"],
  paused: ["warn", "pause", "paused"],
  finished: ["good", "check", "finished"],
  ok: ["good", "check", "healthy"],
  degraded: ["warn", "warning", "degraded"],
  down: ["bad", "dead", "down"],
};

/** A state by shape, word and colour. */
export function StateBadge({ state }: { state: string }) {
  const [tone, icon, word] = STATES[state] ?? ["neutral", "dot", state];
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
}

export function Badge({
  tone = "neutral",
  icon,
  children,
}: {
  tone?: Tone;
  icon?: IconName;
  children: ComponentChildren;
}) {
  return (
    <span class={`badge ${tone}`}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}
