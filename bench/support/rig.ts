import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseSealingKeys } from "../../src/config/config.ts";
import type { Database } from "../../src/postgres/database.ts";
import { Child, type Questions } from "./child.ts";
import { createPartners, createSubscriptions, type Subscription } from "./partners.ts";
import { openReceivers, type Receivers } from "./receivers.ts";
import { Resources } from "./resources.ts";
import { openServer } from "./server.ts";
import { type Service, startBridge, startService } from "./service.ts";

export interface RigOptions {
  /** Null: a built-in server. */
  databaseUrl: string | null;
  /** Small sizes, only to check that the bench works. */
  quick: boolean;
  /** Finished deliveries of the history. Null: as the scenario says. */
  finished: number | null;
  /** A commit to compare with. */
  against: string | null;
  /** The folder for the services' CPU profiles. */
  profileFolder: string | null;
}

/** The database of one scenario, with a hundred partners. */
export interface Stage {
  /** Adds that many partners with these subscriptions, in turn. */
  add: (partners: number, name: string, urls: string[]) => Promise<Subscription[]>;
  db: Database;
  url: string;
  subscriptions: Subscription[];
}

/** The environment of scenarios. It owns and removes all processes, databases and files. */
export interface Rig {
  receivers: Receivers;
  /** A description of the PostgreSQL server. */
  server: string;
  size: (full: number, quick: number) => number;
  /** Creates a database with subscriptions to these URLs. */
  stage: (urls: string[]) => Promise<Stage>;
  finished: number | null;
  against: string | null;
  /** `program`: a file of `processes/`, or null for the program as `npm start` runs it. */
  service: (
    stage: Stage,
    env?: Record<string, string>,
    program?: string | null,
  ) => Promise<Service>;
  /** A bridge that publishes into the service with this token. */
  bridge: (service: Service, token: string, source: object) => ReturnType<typeof startBridge>;
  child: <Asked extends Questions>(name: string) => Child<Asked>;
  /** Does this work at the end of the scenario. */
  after: (work: () => unknown) => void;
  /** Removes everything that a scenario has started. */
  clear: () => Promise<void>;
  close: () => Promise<void>;
}

const PARTNERS = 100;

export async function openRig({
  databaseUrl,
  quick,
  finished,
  against,
  profileFolder,
}: RigOptions): Promise<Rig> {
  const lasting = new Resources();
  const passing = new Resources();
  const close = async () => {
    await passing.end().finally(() => lasting.end());
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "partner-api-bench-"));
    lasting.add(() => rm(folder, { recursive: true, force: true }));
    const server = await openServer(databaseUrl, folder);
    lasting.add(server.close);
    const receivers = await openReceivers(lasting, folder);

    const sealingKeys = `bench:${randomBytes(32).toString("base64")}`;
    const ring = parseSealingKeys(sealingKeys);
    if (ring === null) throw new Error("the sealing keys are invalid");
    let programs = 0;

    return {
      receivers,
      server: server.description,
      finished,
      against,
      size: (full, small) => (quick ? small : full),

      stage: async (urls) => {
        const { db, url, drop } = await server.createDatabase();
        passing.add(drop);
        const partners = await createPartners(db, PARTNERS);
        const add = async (more: number, name: string, theirUrls: string[]) =>
          createSubscriptions(db, ring, await createPartners(db, more, name), theirUrls);
        return { db, url, add, subscriptions: await createSubscriptions(db, ring, partners, urls) };
      },

      service: async ({ url }, env = {}, program = "service") => {
        const options = {
          program,
          logFile: join(folder, `service-${++programs}.log`),
          nodeOptions: profileFolder ? ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`] : [],
        };
        const service = await startService(
          {
            DATABASE_URL: url,
            DATA_DIR: folder,
            SEALING_KEYS: sealingKeys,
            ...receivers.environment,
            ...env,
          },
          options,
        );
        passing.add(service.stop);
        return service;
      },

      bridge: async ({ operatorUrl }, token, source) => {
        const env = { PARTNER_API_URL: operatorUrl, PARTNER_API_TOKEN: token };
        const file = join(folder, `bridge-${++programs}.json`);
        const bridge = await startBridge([{ name: "bench", ...source }], env, file);
        passing.add(bridge.stop);
        return bridge;
      },

      after: (work) => {
        passing.add(async () => {
          await work();
        });
      },

      child: <Asked extends Questions>(name: string) => {
        const child = new Child<Asked>(name);
        passing.add(() => child.end());
        return child;
      },

      clear: () => passing.close(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
