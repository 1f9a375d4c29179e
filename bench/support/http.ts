import type { Load } from "../processes/load.ts";
import { bareRoute } from "./baselines.ts";
import { inThousands } from "./report.ts";
import type { Rig } from "./rig.ts";
import type { Answered } from "./saturate.ts";
import type { Service } from "./service.ts";

const CONNECTIONS = 64;

/** Answers a second of a service whose connections are kept busy, and of a bare route with the same requests. */
export async function compareWithRoute(rig: Rig, service: Service, requests: string[]) {
  const route = await bareRoute(rig, requests);
  const load = rig.child<Load>("load");
  const { perSecond, ...answered } = await load.ask("saturate", {
    url: service.partnerUrl,
    requests,
    connections: CONNECTIONS,
    warmUpMs: rig.size(2_000, 200),
    ms: rig.size(5_000, 500),
  });
  await load.end();
  requireAnswered(answered);
  return {
    ok: answered.ok,
    ratio: perSecond / route.perSecond,
    measured: `${inThousands(perSecond)}/s; ${route.description}`,
  };
}

export function requireAnswered({ ok, others }: Answered): void {
  if (others > 0) throw new Error(`the service refused ${others} of ${ok + others} requests`);
}
