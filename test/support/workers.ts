import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestContext } from "node:test";
import { ADMIN_TOKEN, type Program, type Served, startProgram } from "./program.ts";
import { aSubscriber, call } from "./rig.ts";

export interface Readiness {
  status: number;
  checks: { name: string; ok: boolean; detail?: string }[];
}

export interface Listed {
  pid: number;
  state: string;
}

/** The processes that run now, as operators see them. */
export async function running({ operatorUrl }: Served): Promise<number[]> {
  const { body } = await call(`${operatorUrl}/api/v1/admin/processes`, { token: ADMIN_TOKEN });
  const items = body["items"] as Listed[];
  return items.filter(({ state }) => state === "running").map(({ pid }) => pid);
}

export function pidOf(program: Program, worker: number): number {
  const line = program.log.findLast(
    (one) => one["worker"] === worker && one["msg"] === "worker ready",
  );
  return Number(line?.["pid"]);
}

/** Resolves when the log has told the pids of all workers. */
export async function startWorkers(t: TestContext, rig: Record<string, string>): Promise<Program> {
  const program = await startProgram(t, rig);
  const numbers = Array.from({ length: Number(rig["WORKERS"]) }, (_, i) => i + 1);
  await until(() => numbers.every((worker) => pidOf(program, worker) > 0));
  return program;
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

/** Over a connection of its own, as a probe. It gets no answer if a worker hangs that the connection was given to. */
export async function readyz(url: string): Promise<Readiness> {
  const signal = AbortSignal.timeout(5_000);
  const answer = await fetch(`${url}/readyz`, { headers: { connection: "close" }, signal });
  const { checks } = (await answer.json()) as Pick<Readiness, "checks">;
  return { status: answer.status, checks };
}

/** The value of a metric, summed over its labels. */
export async function metric({ operatorUrl }: Served, name: string): Promise<number> {
  const answer = await fetch(`${operatorUrl}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const lines = (await answer.text()).split("\n").filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

export async function childrenOf(pid: number | undefined): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(
    pids.map(async (name) => {
      const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    }),
  );
  return pids.filter((_, i) => parents[i] === pid).map(Number);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resolves when a receiver has an attempt. `answer` ends it with 503. */
export async function anAttemptInFlight(t: TestContext, program: Program) {
  const { receiver, partner, subscription } = await aSubscriber(t, program);
  const asked = new Promise<() => void>((resolve) => {
    receiver.answer(({ response }) => {
      resolve(() => response.writeHead(503).end());
    });
  });
  await partner.ping(subscription);
  return { partner, answer: await asked };
}
