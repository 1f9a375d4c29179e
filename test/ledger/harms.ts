import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseServer } from "./database-server.ts";
import { LEASE_MS, type Plan } from "./plan.ts";
import { between, pick, type Random } from "./random.ts";
import type { Harm, Service } from "./services.ts";

/** How much longer than the lease a pause lasts. */
const OVERSLEPT_MS = { least: 500, most: 2_000 };

/** Kills and pauses processes as planned, at random moments. Returns all faults with their times. */
export async function doHarm(
  { kills, pauses, databaseKills, overMs, workers = 1 }: Plan,
  random: Random,
  services: readonly Service[],
  database: DatabaseServer,
): Promise<Harm[]> {
  const began = performance.now();
  const busy = new Map<object, Promise<unknown>>();
  const harms = [
    ...times(kills, () => {
      const worker = workers > 1 ? Math.floor(between(random, 0, workers + 1)) : 0;
      return onService((service) => service.kill(worker));
    }),
    ...times(pauses, () => {
      const ms = LEASE_MS + between(random, OVERSLEPT_MS.least, OVERSLEPT_MS.most);
      return onService((service) => service.pause(ms));
    }),
    ...times(databaseKills, () => ({ victim: database, harm: () => harmDatabase(database) })),
  ];
  return Promise.all(harms.map((harm) => inTurn(harm)));

  function onService(harm: (service: Service) => Promise<Harm>) {
    const victim = pick(random, services);
    return { victim, harm: () => harm(victim) };
  }

  /** At a random moment, after any other fault of the same victim has ended. */
  async function inTurn({ victim, harm }: { victim: object; harm: () => Promise<Harm> }) {
    await sleep(between(random, 0, overMs) - (performance.now() - began));
    const done = Promise.resolve(busy.get(victim)).then(harm);
    busy.set(victim, done);
    return done;
  }
}

async function harmDatabase(database: DatabaseServer): Promise<Harm> {
  return { kind: "database", slot: null, ...(await database.harm()) };
}

function times<Item>(count: number, make: () => Item): Item[] {
  return Array.from({ length: count }, make);
}
