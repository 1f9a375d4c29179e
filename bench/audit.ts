import { encodeCursor } from "../src/lib/page.ts";
import { fillAudit } from "./support/audit.ts";
import { inMs } from "./support/report.ts";
import { failuresRequest } from "./support/requests.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { median } from "./support/statistics.ts";
import { exchange, openWires, type Wire } from "./support/wire.ts";

const ROUNDS = 300;
const LIMIT = 50;

/** Compares the last page of a long audit with the first one. */
export const audit: Scenario = {
  name: "audit",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const [subscription] = stage.subscriptions;
    if (subscription === undefined) throw new Error("there are no subscriptions");
    const failures = rig.size(1_000_000, 10_000);
    const beforeLast = await fillAudit(stage.db, subscription, failures, LIMIT);
    const cursor = encodeCursor(`failures of ${subscription.id}`, beforeLast);
    const firstPage = failuresRequest(subscription, `limit=${LIMIT}`);
    const lastPage = failuresRequest(subscription, `limit=${LIMIT}&cursor=${cursor}`);

    const service = await rig.service(stage, { ROLE: "api" });
    const [wire] = await openWires(service.partnerUrl, 1);
    if (wire === undefined) throw new Error("there is no connection");
    const times = { first: [] as number[], last: [] as number[] };
    for (let round = 0; round < rig.size(ROUNDS, 20); round++) {
      times.first.push(await timeOf(wire, firstPage, { isLast: false }));
      times.last.push(await timeOf(wire, lastPage, { isLast: true }));
    }
    wire.close();

    const [first, last] = [median(times.first), median(times.last)];
    return [
      atMost(
        "audit, last page of 1,000,000 failures",
        { must: 1.5, aim: 1.1, unit: "×" },
        { value: last / first, measured: `last page ${inMs(last)}, first page ${inMs(first)}` },
      ),
    ];
  },
};

async function timeOf(
  wire: Wire,
  request: string,
  { isLast }: { isLast: boolean },
): Promise<number> {
  const began = performance.now();
  const { status, body } = await exchange(wire, request);
  const took = performance.now() - began;

  if (status !== "200") throw new Error(`the audit returned ${status}`);
  const page = JSON.parse(body) as { items: unknown[]; next_cursor: string | null };
  if (page.items.length !== LIMIT || (page.next_cursor === null) !== isLast) {
    throw new Error(`this is not the ${isLast ? "last" : "first"} page`);
  }
  return took;
}
