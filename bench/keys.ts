import { formatToken, mintToken, parseAuthorization } from "../src/subjects/keys/rules.ts";
import { inMs } from "./support/report.ts";
import { identityRequest } from "./support/requests.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { median } from "./support/statistics.ts";
import { exchange, openWires, type Wire } from "./support/wire.ts";

const WARM_UP = 200;
const ROUNDS = 3_000;

/** Does the response time reveal which key ids exist? */
export const keys: Scenario = {
  name: "keys",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const known = stage.subscriptions.map(({ partner }) => parseAuthorization(partner.token));
    const service = await rig.service(stage, { ROLE: "api" });
    const [wire] = await openWires(service.partnerUrl, 1);
    if (wire === undefined) throw new Error("there is no connection");

    const times = { known: [] as number[], unknown: [] as number[] };
    for (let round = -WARM_UP; round < rig.size(ROUNDS, 50); round++) {
      const guess = mintToken();
      const keyId = known.at(round % known.length)?.keyId ?? "";
      const pair = [
        { of: times.known, token: formatToken({ ...guess, keyId }) },
        { of: times.unknown, token: formatToken(guess) },
      ];
      // Alternate the order, because the first request may be slower.
      for (const { of, token } of round % 2 === 0 ? pair : pair.toReversed()) {
        const took = await timeOf(wire, token);
        if (round >= 0) of.push(took);
      }
    }
    wire.close();

    const [one, other] = [median(times.known), median(times.unknown)];
    const apart = `${inMs(one)} for a known key id, ${inMs(other)} for an unknown one`;
    return [
      atMost(
        "refusal of a key with a known or unknown id",
        { must: 1.1, aim: 1.03, unit: "×" },
        {
          value: Math.max(one, other) / Math.min(one, other),
          measured: `${apart}; t = ${welch(times.known, times.unknown).toFixed(1)}`,
        },
      ),
    ];
  },
};

async function timeOf(wire: Wire, token: string): Promise<number> {
  const began = performance.now();
  const { status } = await exchange(wire, identityRequest(token));
  const took = performance.now() - began;
  if (status !== "401") throw new Error(`a guess got status ${status}`);
  return took;
}

/** Welch's t without the slowest tenth of each, which depends on the machine. Beyond 4.5, a leak is likely. */
function welch(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [one, other].map((times) => momentsOf(times));
  if (a === undefined || b === undefined) return NaN;
  return (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count);
}

function momentsOf(times: readonly number[]) {
  const kept = times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length * 0.9));
  const count = kept.length;
  const mean = kept.reduce((sum, ms) => sum + ms, 0) / count;
  const variance = kept.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / (count - 1);
  return { count, mean, variance };
}
