import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Afterwards } from "./afterwards.ts";
import { type Arrival, readJournal, type Slot } from "./journal.ts";

const PROGRAM = fileURLToPath(new URL("processes/receivers.js", import.meta.url));

export const HOST = "receivers.test";
/** The receivers' address for each service. Not 127.0.0.1, so that no other program answers by mistake. */
export const ADDRESSES: Record<Slot, string> = { a: "127.0.0.2", b: "127.0.0.3" };
/** Refuses everything until its subscription is disabled. */
export const DOOMED_PATH = "/doomed";

/** The messages to the process and from it. */
export interface Options {
  journalFile: string;
  seed: number;
}

export interface Opened {
  port: number;
  ca: string;
  nameServers: Record<Slot, string>;
}

export interface Receivers {
  url: (path: string) => string;
  /** The settings with which a service finds, reaches and trusts them. */
  environment: (slot: Slot) => Record<string, string>;
  journal: () => Promise<Arrival[]>;
}

export async function openReceivers(
  afterwards: Afterwards,
  folder: string,
  seed: number,
): Promise<Receivers> {
  const journalFile = join(folder, "journal");
  const options: Options = { journalFile, seed };
  const child = fork(PROGRAM, [JSON.stringify(options)], {
    env: { PATH: process.env["PATH"] },
    execArgv: [],
  });
  const exited = once(child, "exit");
  afterwards.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const failed = exited.then(() => {
    throw new Error("the receivers' process ended");
  });
  const [opened] = (await Promise.race([once(child, "message"), failed])) as [Opened];
  failed.catch(() => undefined); // From here on only we end the process.

  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, opened.ca);
  return {
    url: (path) => `https://${HOST}:${opened.port}${path}`,
    environment: (slot) => ({
      DNS_SERVERS: opened.nameServers[slot],
      EGRESS_ALLOW: Object.values(ADDRESSES)
        .map((address) => `${address}/32`)
        .join(","),
      EGRESS_CA_FILE: caFile,
    }),
    journal: () => readJournal(journalFile),
  };
}
