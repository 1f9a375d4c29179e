import { once } from "node:events";
import { openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseId } from "../../../src/lib/ids.ts";
import { connect, type Queryable } from "../../../src/postgres/database.ts";
import { publish } from "../../../src/subjects/events/publish.ts";
import { ADMIN_TOKEN, run } from "../../support/program.ts";
import { readPublications, type Way, write } from "../publications.ts";
import { PUBLISHED_TYPE, type PublisherOptions, WHERE } from "../publishers.ts";
import { pick, randomFrom } from "../random.ts";

/**
 * Services of a platform, in a process that may be killed at any moment. It writes each key before it sends
 * it, and each answer. After a restart it sends the keys without an answer again. It ends with its parent.
 */
process.on("disconnect", () => process.exit());
process.on("SIGINT", () => undefined);
// Ctrl-C reaches this process too, but only the parent ends it.
process.setMaxListeners(0);
// Each request waits for an answer from the parent.

const WORKERS = 8;
const PATIENCE_MS = 3_000;
const AFTER_FAILURE_MS = 100;
/** The shares of calls whose answers are lost, and of transactions that are rolled back. */
const LOST = 0.1;
const ROLLED_BACK = 0.1;
/** Each twentieth call is a command of its own, because a program takes long to start. It has one key. */
const COMMANDS_EVERY = 20;
const COMMAND = 1;
/** The share of commands that are killed, and the time within which they are. */
const COMMANDS_KILLED = 0.2;
const COMMAND_MS = 1_000;
/** Each tenth call has a rival: another publisher with the same keys at the same time. */
const RIVALS_EVERY = 10;
/** The numbers of events in a batch. */
const BATCHES = [1, 1, 1, 2, 5];

/** An answer that no outage explains. */
class Refused extends Error {}
/** The exit status of a command line that the program refuses. */
const INVALID = 2;

type Answers = Record<string, { event: string; isDuplicate: boolean }>;

const BY_WAY: Record<Way, (keys: string[]) => Promise<Answers>> = {
  ...{ http: byHttp, command: byCommand, sql: bySql, typescript: byTypescript },
};

const options = JSON.parse(process.argv[2] ?? "") as PublisherOptions;
const { answers: before } = readPublications(options.journalFile);
const journal = openSync(options.journalFile, "a");
const random = randomFrom(options.seed + before.size);
const ways: readonly Way[] = ["http", "sql", "typescript"];
const db = connect(options.databaseUrl, { max: WORKERS, name: "publishers" });
const began = performance.now();

const calls: string[][] = [];
for (let count = 0; count < options.published; count += calls.at(-1)?.length ?? 0) {
  const size = BATCHES[calls.length % BATCHES.length] ?? 1;
  calls.push(Array.from({ length: size }, (_, i) => keyOf(calls.length, i)));
}
await untilItWorks(
  () => db`create table if not exists ledger_orders (key text primary key, event_id uuid not null)`,
);
const left = calls.entries();
await Promise.all(Array.from({ length: WORKERS }, () => work(left)));
process.exit(0);

function keyOf(call: number, i: number): string {
  return `order-${call}-${i}`;
}

async function work(left: Iterable<[number, string[]]>): Promise<void> {
  for (const [call, keys] of left) {
    if (keys.every((key) => before.has(key))) continue;
    await sleep((call / calls.length) * options.overMs - (performance.now() - began));
    const rivals = call % RIVALS_EVERY === 0 ? 2 : 1;
    await Promise.all(Array.from({ length: rivals }, () => publishUntilAnswered(call, keys)));
  }
}

async function publishUntilAnswered(call: number, keys: string[]): Promise<void> {
  const isCommand = call % COMMANDS_EVERY === COMMAND;
  await untilItWorks(async () => {
    const way = isCommand ? "command" : pick(random, ways);
    write(journal, { begins: keys, way });
    const told = await BY_WAY[way](keys);
    if (random() < LOST) throw new Error("the answer is lost");
    note(way, told);
  });
}

function note(way: Way, told: Answers): void {
  const all = Object.entries(told);
  const answers = Object.fromEntries(all.map(([key, { event }]) => [key, event]));
  write(journal, { answers, duplicates: all.filter(([, one]) => one.isDuplicate).length, way });
}

async function untilItWorks(work: () => PromiseLike<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (error instanceof Refused) throw error;
      await sleep(AFTER_FAILURE_MS);
    }
  }
}

async function urlOfService(): Promise<string> {
  process.send?.(WHERE);
  const [operatorUrl] = (await once(process, "message")) as [string];
  return operatorUrl;
}

async function byHttp(keys: string[]): Promise<Answers> {
  const operatorUrl = await urlOfService();
  const events = keys.map((dedupe_key) => ({
    ...{ organization: options.organization, type: PUBLISHED_TYPE },
    ...{ data: { dedupe_key }, dedupe_key },
  }));
  const response = await fetch(`${operatorUrl}/api/v1/admin/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(events.length === 1 ? events[0] : { events }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await response.text();
  if (response.status >= 500) throw new Error(text);
  if (response.status !== 202) throw new Refused(text);
  const told = JSON.parse(text) as Told | { items: Told[] };
  const items = "items" in told ? told.items : [told];
  return Object.fromEntries(
    keys.map((key, i) => [key, { event: bare(items[i]), isDuplicate: !!items[i]?.duplicate }]),
  );
}

interface Told {
  event_id: string;
  duplicate: boolean;
}

function bare(told: Told | undefined): string {
  const id = parseId("evt", told?.event_id ?? "");
  if (id === null) throw new Refused(`not an event's id: ${JSON.stringify(told)}`);
  return id;
}

async function byCommand([key = ""]: string[]): Promise<Answers> {
  const env = { PARTNER_API_URL: await urlOfService(), PARTNER_API_TOKEN: ADMIN_TOKEN };
  const event = ["--organization", options.organization, "--type", PUBLISHED_TYPE, "--data", "{}"];
  const child = run(["event", "publish", ...event, "--dedupe-key", key, "--json"], env);
  const closed = once(child, "close");
  if (random() < COMMANDS_KILLED) {
    setTimeout(() => child.kill("SIGKILL"), random() * COMMAND_MS);
  }
  const [written, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = (await closed) as [number | null];
  if (status === INVALID) throw new Refused(complaint);
  if (status !== 0) throw new Error(complaint);
  const told = JSON.parse(written) as Told;
  return { [key]: { event: bare(told), isDuplicate: told.duplicate } };
}

/** Each in a transaction with a row of the platform's own. The keys are in order. */
async function bySql(keys: string[]): Promise<Answers> {
  return inTransaction(async (tx) => {
    const told: Answers = {};
    for (const key of keys) {
      const [row] = await tx<{ event: string }[]>`
        select partner_api_publish(organization => ${options.organization}, type => ${PUBLISHED_TYPE}, data => '{}',
                                   dedupe_key => ${key}) as event`;
      told[key] = { event: row?.event ?? "", isDuplicate: false };
    }
    return told;
  });
}

async function byTypescript(keys: string[]): Promise<Answers> {
  return inTransaction(async (tx) => {
    const [organization] = await tx<{ id: string }[]>`
      select id from organizations where slug = ${options.organization}`;
    const events = keys.map((dedupeKey) => ({
      ...{ organizationId: organization?.id ?? "", type: PUBLISHED_TYPE, data: "{}", dedupeKey },
    }));
    const published = await publish({ clock: () => new Date() }, tx, events);
    return Object.fromEntries(
      published.map(({ eventId, isDuplicate }, i) => [
        keys[i] ?? "",
        { event: eventId, isDuplicate },
      ]),
    );
  });
}

async function inTransaction(publishIn: (tx: Queryable) => Promise<Answers>): Promise<Answers> {
  return db.within(PATIENCE_MS).begin(async (tx) => {
    const told = await publishIn(tx);
    for (const [key, { event }] of Object.entries(told)) {
      await tx`
        insert into ledger_orders (key, event_id) values (${key}, ${event}) on conflict (key) do nothing`;
    }
    if (random() < ROLLED_BACK) throw new Error("rolled back");
    return told;
  });
}
