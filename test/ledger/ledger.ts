import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { publicId } from "../../src/lib/ids.ts";
import { withTimeLimit } from "../../src/lib/time-limit.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { Afterwards } from "./afterwards.ts";
import { type Balance, balance, faultsOf } from "./balance.ts";
import { readBooks, untilNoneWaits } from "./books.ts";
import { call, type Called } from "./callers.ts";
import { type DatabaseServer, openDatabaseServer } from "./database-server.ts";
import { doHarm } from "./harms.ts";
import { type Slot, SLOTS } from "./journal.ts";
import { makePartner, unsubscribe } from "./partner.ts";
import { ATTEMPT_TIMEOUT_MS, type Plan, RETRY_DELAYS } from "./plan.ts";
import { faultsOfPublishing, type Publications } from "./publications.ts";
import { letPublish, readLedgered, writeEventTypes } from "./publishers.ts";
import { between, randomFrom } from "./random.ts";
import { openReceivers } from "./receivers.ts";
import { type Harm, Service } from "./services.ts";

export interface Run {
  called: Called;
  harms: Harm[];
  arrivals: number;
  attempts: number;
  balance: Balance;
  publications: Publications;
  /** How often the publishers were killed. */
  publisherKills: number;
  /** Errors in the services' logs that the outages do not explain. */
  errors: string[];
  /** Contradictions between the responses to publishers and the stored events. */
  misPublished: string[];
}

/** All faults of the service in a run. */
export function faultsOfRun({ balance, misPublished, errors }: Run): string[] {
  return [...faultsOf(balance), ...misPublished, ...errors];
}

/** Starts the PostgreSQL of a run in its own folder. */
type OpenDatabase = (afterwards: Afterwards, folder: string) => Promise<DatabaseServer>;

/**
 * Accepts events at two services with the same database, publishes others in all ways, and kills everything at
 * random moments. Then waits until the queue is empty, and checks the fate of each event. Stops everything at
 * the end and when `stop` aborts.
 */
export async function runLedger(
  plan: Plan,
  stop: AbortSignal,
  openDatabase: OpenDatabase = openDatabaseServer,
): Promise<Run> {
  const afterwards = new Afterwards();
  const signal = withTimeLimit(plan.limitMs, stop);
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      reject(signal.reason as Error);
    });
  });
  try {
    return await Promise.race([run(plan, afterwards, signal, openDatabase), aborted]);
  } finally {
    await afterwards.run();
  }
}

async function run(
  plan: Plan,
  afterwards: Afterwards,
  signal: AbortSignal,
  openDatabase: OpenDatabase,
): Promise<Run> {
  const random = randomFrom(plan.seed);
  const folder = await aTemporaryFolder(afterwards);
  const database = await openDatabase(afterwards, folder);
  const { url: databaseUrl, db } = database;
  const receivers = await openReceivers(afterwards, folder, plan.seed);

  const eventTypes = await writeEventTypes(folder);

  const environment = (slot: Slot) => ({
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    SEALING_KEYS: sealingKeys,
    ATTEMPT_TIMEOUT: `${ATTEMPT_TIMEOUT_MS}ms`,
    RETRY_DELAYS,
    EVENT_TYPES: eventTypes,
    WORKERS: `${plan.workers ?? 1}`,
    ...receivers.environment(slot),
  });
  const sealingKeys = `ledger:${randomBytes(32).toString("base64")}`;
  const services: Service[] = [];
  for (const slot of SLOTS) {
    const service = new Service(afterwards, slot, environment(slot));
    await service.ready(); // One after the other, because the first creates the schema.
    services.push(service);
  }

  const [first] = services as [Service, Service];
  const partner = await makePartner(await first.ready(), plan, receivers);
  const { subscriptions, organization } = partner;
  let isHarmed = !plan.callsThroughHarm;
  const [called, harms, { publications, kills: publisherKills }] = await Promise.all([
    call(plan, random, { services, subscriptions }, signal, () => isHarmed),
    doHarm(plan, random, services, database).finally(() => (isHarmed = true)),
    letPublish({ afterwards, folder, random }, plan, { services, databaseUrl, organization }),
    sleep(between(random, 0, plan.overMs)).then(() =>
      unsubscribe(() => first.ready(), partner, signal),
    ),
  ]);
  await untilNoneWaits(db, signal);
  await Promise.all(services.map((service) => service.stop()));

  const arrivals = await receivers.journal();
  const books = await readBooks(db);
  const ledgered = await readLedgered(db, plan);
  const published = [...publications.answers.values()].flatMap((events) => [...events]);
  const accepted = [...called.accepted, ...published.map((id) => ({ event: publicId("evt", id) }))];
  return {
    called,
    harms,
    arrivals: arrivals.length,
    attempts: books.attempts.length,
    balance: balance({
      ...{ accepted, arrivals, books, harms },
      unrecorded: services.flatMap(({ unrecorded }) => unrecorded),
    }),
    publications,
    publisherKills,
    misPublished: faultsOfPublishing(publications, ledgered),
    errors: services.flatMap(({ errors }) => errors),
  };
}
