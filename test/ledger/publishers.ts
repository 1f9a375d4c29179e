import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Afterwards } from "./afterwards.ts";
import type { Queryable } from "../../src/postgres/database.ts";
import type { Plan } from "./plan.ts";
import { type Ledgered, type Publications, readPublications } from "./publications.ts";
import { between, pick, type Random } from "./random.ts";
import type { Service } from "./services.ts";

const PROGRAM = fileURLToPath(new URL("processes/publishers.js", import.meta.url));

export const PUBLISHED_TYPE = "order.created";

/** The messages between the process and its parent. */
export interface PublisherOptions {
  journalFile: string;
  databaseUrl: string;
  organization: string;
  seed: number;
  published: number;
  overMs: number;
}

/** Sent by the process, and answered with the URL of a service that is ready. */
export const WHERE = "where";

/** Writes the folder of event types that the services get. */
export async function writeEventTypes(folder: string): Promise<string> {
  const types = join(folder, "event-types");
  await mkdir(types);
  const type = { summary: "An order was placed", schema: { type: "object" }, example: {} };
  await writeFile(join(types, `${PUBLISHED_TYPE}.json`), JSON.stringify(type));
  return types;
}

/**
 * Lets a process publish in all ways, kills it at random moments and restarts it, until each planned event
 * has an answer. Returns its journal and the number of kills.
 */
export async function letPublish(
  { afterwards, folder, random }: { afterwards: Afterwards; folder: string; random: Random },
  { seed, overMs, published = 0, publisherKills = 0 }: Plan,
  {
    services,
    ...where
  }: Pick<PublisherOptions, "databaseUrl" | "organization"> & {
    services: readonly Service[];
  },
): Promise<{ publications: Publications; kills: number }> {
  const journalFile = join(folder, "publications");
  const options: PublisherOptions = { ...where, journalFile, seed, published, overMs };
  const deaths = Array.from({ length: publisherKills }, () => between(random, 0, overMs));
  const began = performance.now();
  let kills = 0;
  for (let isOver = published === 0; !isOver;) {
    const dieAt = deaths.sort((a, b) => a - b).shift();
    isOver = await live(dieAt === undefined ? null : dieAt - (performance.now() - began));
    if (!isOver) kills++;
  }
  return { publications: readPublications(journalFile), kills };

  /** Returns false if the process was killed after this time, before its work was done. */
  async function live(killAfterMs: number | null): Promise<boolean> {
    const child = fork(PROGRAM, [JSON.stringify(options)], {
      env: { PATH: process.env["PATH"] },
      execArgv: [],
    });
    const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
    afterwards.after(() => child.kill("SIGKILL"));
    child.on("message", (message) => {
      if (message !== WHERE) return;
      const isThere = () => child.connected;
      const orKilled = () => undefined; // Without it, an error of `send` would end the run.
      void pick(random, services)
        .ready()
        .then(({ operatorUrl }) => isThere() && child.send(operatorUrl, orKilled))
        .catch(() => undefined); // The run is over.
    });
    const death = new AbortController();
    if (killAfterMs !== null) {
      void sleep(killAfterMs, undefined, { signal: death.signal })
        .then(() => child.kill("SIGKILL"))
        .catch(() => undefined); // The work was done before the kill.
    }
    const [status, signal] = await exited;
    death.abort();
    if (status !== 0 && signal !== "SIGKILL") throw new Error(`the publishers ended: ${status}`);
    return status === 0;
  }
}

/** Reads the events. A publisher over HTTP writes no orders. */
export async function readLedgered(db: Queryable, { published = 0 }: Plan): Promise<Ledgered> {
  if (published === 0) return { keys: [], events: [], orders: [] };
  const events = await db<{ id: string }[]>`select id from events where type = ${PUBLISHED_TYPE}`;
  return {
    keys: await db<Keyed[]>`select key, event_id as event from dedupe_keys`,
    events: events.map(({ id }) => id),
    orders: await db<Keyed[]>`select key, event_id as event from ledger_orders`,
  };
}

interface Keyed {
  key: string;
  event: string;
}
