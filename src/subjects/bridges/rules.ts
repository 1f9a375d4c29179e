/** How often a bridge reports itself. */
export const BRIDGE_REPORT_MS = 10_000;
/** A bridge that is silent this long is gone. */
export const BRIDGE_SILENT_MS = 30_000;
/** A bridge that is gone leaves the overview after this time. */
export const BRIDGE_GONE_KEPT_MS = 86_400_000;

/** How many bridges are kept: those that reported last. */
export const BRIDGES_MAX = 50;
/** The sources in a report. */
export const SOURCES_REPORTED = 50;
/** The length of the sentence that says why a source does not publish. */
export const PROBLEM_MAX = 300;

export const BRIDGE_STATES = ["running", "gone"] as const;
type BridgeState = (typeof BRIDGE_STATES)[number];

/** A source of a bridge, in its last report. */
export interface BridgedSource {
  name: string;
  kind: string;
  /** Why it does not publish now. Null if it does, or would. */
  problem: string | null;
  /** Null if the source cannot count them. */
  lag_messages: number | null;
  lag_bytes: number | null;
  /** Since the start of the bridge. */
  published: number;
  set_aside: number;
}

/** What a bridge says of itself. */
export interface BridgeReport {
  version: string;
  host: string;
  pid: number;
  sources: BridgedSource[];
}

export function bridgeStateAt(now: Date, lastSeenAt: Date): BridgeState {
  return now.getTime() - lastSeenAt.getTime() >= BRIDGE_SILENT_MS ? "gone" : "running";
}
