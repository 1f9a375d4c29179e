import type { Load } from "../processes/load.ts";
import { bareRoute } from "./baselines.ts";
import { inTurn } from "./in-turn.ts";
import type { Rig } from "./rig.ts";
import type { Answered } from "./saturate.ts";
import type { Service } from "./service.ts";

const CONNECTIONS = 64;

/** Compares the request rate of the service with a bare route's. All connections are kept busy. */
export async function compareWithRoute(rig: Rig, service: Service, requests: string[]) {
  const route = await bareRoute(rig, requests);
  const load = rig.child<Load>("load");
  let ok = 0;
  const keepBusy = async (time: { warmUpMs: number; ms: number }) => {
    const target = { url: service.partnerUrl, requests, connections: CONNECTIONS };
    const { perSecond, ...answered } = await load.ask("saturate", { ...target, ...time });
    requireAnswered(answered);
    ok += answered.ok;
    return perSecond;
  };

  await keepBusy({ warmUpMs: rig.size(2_000, 200), ms: 0 });
  const time = { warmUpMs: rig.size(200, 50), ms: rig.size(700, 100) };
  const compared = await inTurn(route, () => keepBusy(time));
  await load.end();
  return { ok, ...compared };
}

export function requireAnswered({ ok, others }: Answered): void {
  if (others > 0) throw new Error(`the service refused ${others} of ${ok + others} requests`);
}
