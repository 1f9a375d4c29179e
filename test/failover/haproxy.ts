import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Afterwards } from "../ledger/afterwards.ts";
import { freePort } from "../support/free-port.ts";
import { ROOT } from "../support/root.ts";
import type { Member } from "./member.ts";

/** Runs haproxy with `deploy/haproxy/postgres.cfg` in front of the members. Returns where it listens. */
export async function startPrimarysBalancer(
  afterwards: Afterwards,
  members: readonly Member[],
): Promise<string> {
  const place = `127.0.0.1:${await freePort()}`;
  const env: NodeJS.ProcessEnv = { PATH: process.env["PATH"], BIND: place };
  for (const [index, { sql, restUrl }] of members.entries()) {
    env[`PG_${index + 1}`] = sql;
    env[`PATRONI_${index + 1}`] = new URL(restUrl).port;
  }
  const file = join(ROOT, "deploy/haproxy/postgres.cfg");
  const child = spawn("haproxy", ["-db", "-f", file], { env, stdio: "ignore" });
  const ended = once(child, "exit");
  afterwards.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return place;
}
