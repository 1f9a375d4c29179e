import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Afterwards } from "../ledger/afterwards.ts";
import { freePort } from "../support/free-port.ts";
import type { Account } from "./account.ts";
import { ask, untilHolds } from "./ask.ts";

export interface Etcd {
  /** Host and port. */
  place: string;
  freeze: () => void;
  thaw: () => void;
}

/** Starts one etcd without others, and waits until it is healthy. */
export async function startEtcd(
  afterwards: Afterwards,
  { folder, account, host }: { folder: string; account: Account; host: string },
): Promise<Etcd> {
  const place = `${host}:${await freePort()}`;
  const [client, peer] = [`http://${place}`, `http://${host}:${await freePort()}`];
  const options = {
    "data-dir": `${folder}/etcd`,
    ...{ "listen-client-urls": client, "advertise-client-urls": client },
    ...{ "listen-peer-urls": peer, "initial-advertise-peer-urls": peer },
    "initial-cluster": `default=${peer}`,
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const child = spawn("etcd", args, { ...account, cwd: folder, stdio: "ignore" });
  const ended = once(child, "exit");
  afterwards.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await untilHolds(afterwards, async () => (await ask(`${client}/health`)) !== null);
  return { place, freeze: () => child.kill("SIGSTOP"), thaw: () => child.kill("SIGCONT") };
}
