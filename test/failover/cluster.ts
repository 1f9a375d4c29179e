import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../src/postgres/database.ts";
import type { Afterwards } from "../ledger/afterwards.ts";
import { type DatabaseServer, openLedgerPool } from "../ledger/database-server.ts";
import { freePort } from "../support/free-port.ts";
import { folderFor, serverAccount } from "./account.ts";
import { ask, untilHolds } from "./ask.ts";
import { startEtcd } from "./etcd.ts";
import { startPrimarysBalancer } from "./haproxy.ts";
import { Member } from "./member.ts";
import { openNetwork, OUR_HOST, type Place, plugIn, unplug } from "./network.ts";

const LOOPBACK: Place = { host: "127.0.0.1" };
const NODES = 3;

/**
 * The faults. `wake` freezes the primary until shortly before a watchdog would reset its machine. `etcd` freezes etcd until the
 * primary has given up. `partition` cuts the primary off from everything, and needs root.
 */
export const FAULTS = [
  "kill",
  "switchover",
  "freeze",
  "standby",
  "wake",
  "etcd",
  "partition",
] as const;
/** Lets the frozen primary go on after another has taken over, which a watchdog prevents. Then Patroni may lose commits. */
export const UNFENCED = "unfenced";

export type Fault = (typeof FAULTS)[number] | typeof UNFENCED;

/** Longer than the service waits for an answer, and shorter than the primary's lock lasts. */
const ASLEEP_MS = 12_000;

interface Seen {
  name: string;
  role: string;
  state: string;
  timeline?: number;
  lag?: number | string;
}

/**
 * A PostgreSQL of three nodes under Patroni, with one synchronous standby and one etcd. Each call of `harm`
 * causes the next of `faults`. The service reaches it by its hosts, or through haproxy.
 */
export async function openCluster(
  afterwards: Afterwards,
  parent: string,
  { faults, isBehindHaproxy = false }: { faults: readonly Fault[]; isBehindHaproxy?: boolean },
): Promise<DatabaseServer> {
  const until = (holds: () => Promise<boolean>) => untilHolds(afterwards, holds);
  const account = serverAccount();
  const folder = await folderFor(account, parent, "cluster");
  const isApart = faults.includes("partition");
  const places = isApart
    ? await openNetwork(afterwards, NODES)
    : Array<Place>(NODES).fill(LOOPBACK);
  const host = isApart ? OUR_HOST : LOOPBACK.host;
  const etcd = await startEtcd(afterwards, { folder, account, host });
  const members: Member[] = [];
  for (const [index, place] of places.entries()) {
    const ports = { sqlPort: await freePort(), restPort: await freePort() };
    const name = `pg${index + 1}`;
    const member = new Member({ name, folder, account, place, etcd: etcd.place, ...ports });
    afterwards.after(() => member.kill());
    await member.start();
    members.push(member);
  }
  await until(isWhole);

  const hosts = members.map(({ sql }) => sql).join();
  const admin = connect(`postgres://postgres@${hosts}/postgres`, { max: 1, name: "ledger" });
  await admin`create role partner login`;
  await admin`create database partner owner partner`;
  await admin.end({ timeout: 1 });
  const way = isBehindHaproxy ? await startPrimarysBalancer(afterwards, members) : hosts;
  const url = `postgres://partner@${way}/partner`;
  const db = openLedgerPool(afterwards, url);
  let done = 0;
  return { url, db, harm };

  async function harm() {
    await until(isWhole);
    const fault = faults[done++ % faults.length] ?? "kill";
    const seen = await see();
    const leader = memberOf(seen, "leader");
    const standby = memberOf(seen, "sync_standby");
    const from = Date.now();
    await begin(fault, leader, standby);
    const harmed = { from, until: Date.now(), fault };
    await mend(fault, leader, standby);
    return harmed;
  }

  /** Resolves when the cluster works again without the victim. */
  async function begin(fault: Fault, leader: Member, standby: Member): Promise<void> {
    switch (fault) {
      case "kill":
        await leader.kill();
        return until(() => isPrimaryOtherThan(leader));
      case "wake":
        await leader.freeze();
        await sleep(ASLEEP_MS);
        await leader.thaw();
        return until(serves);
      case "freeze":
      case "unfenced":
        await leader.freeze();
        return until(() => isPrimaryOtherThan(leader));
      case "partition":
        await unplug(leader.place);
        return until(() => isPrimaryOtherThan(leader));
      case "switchover":
        return switchOver(leader, standby);
      case "standby":
        await standby.kill();
        return until(async () =>
          (await see()).some((one) => one.role === "sync_standby" && one.name !== standby.name),
        );
      case "etcd":
        etcd.freeze();
        await until(async () => !(await serves()));
        etcd.thaw();
        return until(serves);
    }
  }

  /** Lets the victim join the cluster again. */
  async function mend(fault: Fault, leader: Member, standby: Member): Promise<void> {
    const victim = fault === "standby" ? standby : leader;
    if (fault === "unfenced") await victim.thaw();
    if (fault === "partition") await plugIn(victim.place);
    if (fault !== "kill" && fault !== "freeze" && fault !== "standby") return;
    await victim.kill();
    await victim.start();
  }

  /** True if a primary answers. Patroni's `/primary` tells who has the lock, also while that server is still a standby. */
  function serves(): Promise<boolean> {
    return db`select`.then(
      () => true,
      () => false,
    );
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
