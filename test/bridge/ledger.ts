import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Afterwards } from "../ledger/afterwards.ts";
import { openDatabaseServer } from "../ledger/database-server.ts";
import { randomFrom } from "../ledger/random.ts";
import { ADMIN_TOKENS, COUNTED, makeOrganization, PUBLISH_TOKEN } from "../support/bridge.ts";
import { aFolder } from "../support/event-types.ts";
import { freePort } from "../support/free-port.ts";
import { run, startProgram } from "../support/program.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

/** A real source with its server. */
export interface Broker {
  /** The configuration of the source, without its name. */
  source: object;
  /** Variables that the configuration names. */
  env?: Record<string, string>;
  /** Writes messages whose data is `{"n": …}`. */
  write(numbers: readonly number[]): Promise<void>;
  /** Ends the server like `kill -9`, and resolves when it serves again. */
  kill(): Promise<unknown>;
  /** The numbers of the messages that were set aside. */
  setAside(): Promise<number[]>;
}

export interface Plan {
  messages: number;
  /** One of so many messages is made bad: its number is negative. */
  badOf: number;
  faults: number;
  seed: number;
  /** How long between two faults, at most. */
  pauseMs: number;
}

export interface Ledger {
  lost: number[];
  twice: number[];
  /** Set aside, but not bad. */
  wronglyAside: number[];
  /** Bad, but not set aside. */
  notAside: number[];
  faults: Record<string, number>;
  seconds: number;
}

const CHUNK = 100;
const POLL_MS = 200;
const PATIENCE_MS = 120_000;

export type OpenBroker = (afterwards: Afterwards) => Promise<Broker>;

/** Two bridges on one source, and `kill -9` of a bridge, the service, its database or the broker at random moments. */
export async function runLedger(open: OpenBroker, plan: Plan): Promise<Ledger> {
  const afterwards = new Afterwards();
  try {
    return await keepLedger(afterwards, await open(afterwards), plan);
  } finally {
    await afterwards.run();
  }
}

async function keepLedger(t: Afterwards, broker: Broker, plan: Plan): Promise<Ledger> {
  const startMs = performance.now();
  const random = randomFrom(plan.seed);
  const service = await aService(t);
  const bridges = await Promise.all([0, 1].map(() => aBridgeProcess(t, broker, service.url)));
  const victims: Record<string, () => Promise<unknown>> = {
    service: service.kill,
    database: service.killDatabase,
    broker: () => broker.kill(),
    "bridge 1": () => bridges[0]?.kill() ?? Promise.resolve(),
    "bridge 2": () => bridges[1]?.kill() ?? Promise.resolve(),
  };
  const faults: Record<string, number> = {};
  const numbers = Array.from({ length: plan.messages }, (_, i) =>
    (i + 1) % plan.badOf === 0 ? -(i + 1) : i + 1,
  );
  await Promise.all([write(), harm()]);
  const good = numbers.filter((n) => n > 0);
  const bad = numbers.filter((n) => n < 0);
  let published: number[] = [];
  let aside: number[] = [];
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += POLL_MS) {
    published = await service.published();
    aside = await broker.setAside();
    if (new Set(published).size >= good.length && new Set(aside).size >= bad.length) break;
    await sleep(POLL_MS);
  }
  return {
    lost: good.filter((n) => !new Set(published).has(n)).slice(0, 10),
    twice: published.filter((n, i) => published.indexOf(n) !== i),
    wronglyAside: aside.filter((n) => n > 0),
    notAside: bad.filter((n) => !aside.includes(n)),
    faults,
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
  };

  async function write(): Promise<void> {
    for (let at = 0; at < numbers.length; at += CHUNK) {
      const chunk = numbers.slice(at, at + CHUNK);
      await broker.write(chunk);
      await sleep((plan.faults * plan.pauseMs * CHUNK) / numbers.length / 2);
    }
  }

  async function harm(): Promise<void> {
    const names = Object.keys(victims);
    for (let i = 0; i < plan.faults; i++) {
      await sleep(random() * plan.pauseMs);
      // Each once, then any.
      const name = (i < names.length ? names[i] : names[Math.floor(random() * names.length)]) ?? "";
      faults[name] = (faults[name] ?? 0) + 1;
      await victims[name]?.();
    }
  }
}

export function assertBalanced({ lost, twice, wronglyAside, notAside }: Ledger): void {
  assert.deepEqual({ lost, twice, wronglyAside, notAside }, EMPTY);
}

const EMPTY = { lost: [], twice: [], wronglyAside: [], notAside: [] };

/** The service with a database of its own. Both can be killed. */
async function aService(t: Afterwards) {
  const folder = await aTemporaryFolder(t);
  const port = await freePort();
  const database = await openDatabaseServer(t, folder);
  const env = {
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, "own"),
    EVENT_TYPES: await aFolder(t, COUNTED),
    ADMIN_TOKEN: ADMIN_TOKENS,
    OPERATOR_PORT: String(port),
  };
  let program = await startProgram(t, env);
  await makeOrganization(program.operatorUrl, "acme");
  return {
    url: program.operatorUrl,
    kill: async () => {
      await program.end("SIGKILL");
      program = await startProgram(t, env);
    },
    killDatabase: () => database.harm(),
    published: async () => {
      const rows = await database.db<{ data: string }[]>`select data from events`;
      return rows.map(({ data }) => (JSON.parse(data) as { n: number }).n);
    },
  };
}

async function aBridgeProcess(t: Afterwards, { source, env = {} }: Broker, url: string) {
  const folder = await aTemporaryFolder(t);
  const file = join(folder, "bridge.json");
  await writeFile(file, JSON.stringify({ sources: [{ name: "ledger", ...source }] }));
  const variables = {
    PARTNER_API_URL: url,
    PARTNER_API_TOKEN: PUBLISH_TOKEN,
    BRIDGE_PORT: "0",
    LOG_LEVEL: process.env["BRIDGE_LOG"] ?? "silent",
    NODE_PATH: "",
    ...env,
  };
  const start = (): ChildProcess => {
    const child = run(["bridge", "--config", file], variables);
    child.stdout.on(
      "data",
      (text: Buffer) => process.env["BRIDGE_LOG"] && process.stderr.write(text),
    );
    child.stderr.pipe(process.stderr);
    return child;
  };
  let child = start();
  t.after(() => child.kill("SIGKILL"));
  return {
    kill: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      child = start();
    },
  };
}
