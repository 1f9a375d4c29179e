import { after } from "../../lib/clock.ts";
import { type BridgeId, publicId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import { BRIDGE_GONE_KEPT_MS, type BridgeReport, BRIDGES_MAX, bridgeStateAt } from "./rules.ts";
import {
  deleteBridge,
  deleteBridgesBeyond,
  type KnownBridge,
  listBridges,
  recordBridge,
} from "./sql.ts";

type Deps = Pick<Dependencies, "db" | "clock">;

/** A bridge, as it last reported itself. */
export type BridgeView = ReturnType<typeof viewBridge>;

export async function reportBridge(
  { db, clock }: Deps,
  id: BridgeId,
  report: BridgeReport,
): Promise<void> {
  const now = clock();
  await recordBridge(db, id, report, now);
  await deleteBridgesBeyond(db, BRIDGES_MAX, after(now, -BRIDGE_GONE_KEPT_MS));
}

/** A bridge that stops in order is not missed. */
export async function forgetBridge({ db }: Pick<Deps, "db">, id: BridgeId): Promise<void> {
  await deleteBridge(db, id);
}

/** Returns the running bridges, and those that were last seen within a day. */
export async function viewBridges({ db, clock }: Deps): Promise<BridgeView[]> {
  const now = clock();
  const unseenSince = after(now, -BRIDGE_GONE_KEPT_MS);
  const bridges = await listBridges(db, { unseenSince, limit: BRIDGES_MAX });
  return bridges.map((one) => viewBridge(one, now));
}

function viewBridge({ id, startedAt, lastSeenAt, ...report }: KnownBridge, now: Date) {
  return {
    id: publicId("brg", id),
    version: report.version,
    host: report.host,
    pid: report.pid,
    started_at: startedAt.toISOString(),
    last_seen_at: lastSeenAt.toISOString(),
    state: bridgeStateAt(now, lastSeenAt),
    sources: report.sources,
  };
}
