import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../src/postgres/database.ts";
import type { Afterwards } from "../ledger/afterwards.ts";
import { type DatabaseServer, openShard } from "../ledger/database-server.ts";
import { freePort } from "../support/free-port.ts";
import { folderFor, serverAccount } from "./account.ts";
import { Member } from "./member.ts";

const POLL_MS = 50;

/** The faults, repeated in this order. */
export const FAULTS = ["kill", "switchover", "freeze", "standby"] as const;
export type Fault = (typeof FAULTS)[number];

interface Seen {
  name: string;
  role: string;
  state: string;
  timeline?: number;
  lag?: number | string;
}

/**
 * A PostgreSQL of three nodes under Patroni, with one synchronous standby and one etcd. Each call of `harm`
 * causes the next of `faults`.
 */
export async function openCluster(
  afterwards: Afterwards,
  parent: string,
  faults: readonly Fault[],
): Promise<DatabaseServer> {
  const account = serverAccount();
  const folder = await folderFor(account, parent, "cluster");
  const etcdPort = await freePort();
  await startEtcd(afterwards, folder, account, etcdPort);
  const members: Member[] = [];
  for (const name of ["pg1", "pg2", "pg3"]) {
    const [sqlPort, restPort] = [await freePort(), await freePort()];
    const member = new Member({ name, folder, account, etcdPort, sqlPort, restPort });
    afterwards.after(() => member.kill());
    await member.start();
    members.push(member);
  }
  await until(isWhole);

  const hosts = members.map(({ sqlPort }) => `127.0.0.1:${sqlPort}`).join();
  const admin = connect(`postgres://postgres@${hosts}/postgres`, { max: 1, name: "ledger" });
  await admin`create role partner login`;
  await admin`create database partner owner partner`;
  await admin.end({ timeout: 1 });
  const shard = openShard(afterwards, "00", `postgres://partner@${hosts}/partner`);
  let done = 0;
  return { shards: [shard], harm };

  async function harm() {
    await until(isWhole);
    const fault = faults[done++ % faults.length] ?? "kill";
    const seen = await see();
    const leader = memberOf(seen, "leader");
    const standby = memberOf(seen, "sync_standby");
    const from = Date.now();
    switch (fault) {
      case "kill":
        await leader.kill();
        await until(() => isPrimaryOtherThan(leader));
        break;
      case "freeze":
        await leader.freeze();
        await until(() => isPrimaryOtherThan(leader));
        break;
      case "switchover":
        await switchOver(leader, standby);
        break;
      case "standby":
        await standby.kill();
        await until(async () =>
          (await see()).some((one) => one.role === "sync_standby" && one.name !== standby.name),
        );
    }
    const harmed = { from, until: Date.now(), fault };
    const victim = fault === "standby" ? standby : leader;
    if (fault !== "switchover") {
      await victim.kill(); // A frozen node that resumes needs a watchdog: see docs/operations.md.
      await victim.start();
    }
    return harmed;
  }

  async function isPrimaryOtherThan(old: Member): Promise<boolean> {
    const others = members.filter((member) => member !== old);
    const answers = await Promise.all(others.map(({ restUrl }) => ask(`${restUrl}/primary`)));
    return answers.some((answer) => answer !== null);
  }

  async function see(): Promise<Seen[]> {
    for (const { restUrl } of members) {
      const answer = await ask(`${restUrl}/cluster`);
      if (answer !== null) return (JSON.parse(answer) as { members: Seen[] }).members;
    }
    return [];
  }

  /** Three nodes on one timeline, none behind, one of them synchronous. */
  async function isWhole(): Promise<boolean> {
    const seen = await see();
    const [leader] = seen.filter(({ role }) => role === "leader");
    const followers = seen.filter((one) => one !== leader);
    return (
      leader?.state === "running" &&
      followers.length === 2 &&
      followers.every(({ timeline, lag }) => timeline === leader.timeline && lag === 0) &&
      followers.some(({ role }) => role === "sync_standby")
    );
  }

  function memberOf(seen: Seen[], role: string): Member {
    const name = seen.find((one) => one.role === role)?.name;
    const member = members.find((one) => one.name === name);
    if (!member) throw new Error(`no ${role}: ${JSON.stringify(seen)}`);
    return member;
  }

  async function switchOver(leader: Member, candidate: Member): Promise<void> {
    const response = await fetch(`${leader.restUrl}/switchover`, {
      method: "POST",
      body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
    });
    if (!response.ok) throw new Error(`switchover: ${await response.text()}`);
    await until(() => isPrimaryOtherThan(leader));
  }
}

async function startEtcd(
  afterwards: Afterwards,
  folder: string,
  account: object,
  port: number,
): Promise<void> {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${await freePort()}`];
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
  await until(async () => (await ask(`${client}/health`)) !== null);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(POLL_MS);
}

/** The body of a 200. Null for any other answer or none in time. */
async function ask(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    const body = await response.text();
    return response.ok ? body : null;
  } catch {
    return null;
  }
}
