import type { Load } from "../processes/load.ts";
import { type Baseline, bareRoute } from "./baselines.ts";
import { inTurn } from "./in-turn.ts";
import type { Rig } from "./rig.ts";
import type { Answered } from "./saturate.ts";
import type { Service } from "./service.ts";

const CONNECTIONS = 64;

/** Compares the request rate of the service with a bare route's. All connections are kept busy. */
export async function compareWithRoute(rig: Rig, { partnerUrl }: Service, requests: string[]) {
  return compareRates(rig, { url: partnerUrl, requests }, await bareRoute(rig, requests));
}

/** The same with any baseline. */
export async function compareRates(
  rig: Rig,
  target: { url: string; requests: string[] },
  baseline: Baseline,
  turns?: number,
) {
  const load = rig.child<Load>("load");
  let ok = 0;
  const keepBusy = async (time: { warmUpMs: number; ms: number }) => {
    const plan = { ...target, connections: CONNECTIONS, ...time };
    const { perSecond, ...answered } = await load.ask("saturate", plan);
    requireAnswered(answered);
    ok += answered.ok;
    return perSecond;
  };

  await keepBusy({ warmUpMs: rig.size(2_000, 200), ms: 0 });
  const time = { warmUpMs: rig.size(200, 50), ms: rig.size(700, 100) };
  const compared = await inTurn(baseline, () => keepBusy(time), turns);
  await load.end();
  return { ok, ...compared };
}

export function requireAnswered({ ok, others }: Answered): void {
  if (others > 0) throw new Error(`the service refused ${others} of ${ok + others} requests`);
}
