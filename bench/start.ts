import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../test/support/free-port.ts";
import { ROOT } from "../test/support/root.ts";
import { removeEmbedded } from "../src/builtin/index.ts";
import { atMost, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { median } from "./support/statistics.ts";

const PAIRS = 5;
const POLL_MS = 10;
const START_LIMIT_MS = 300_000;

const execute = promisify(execFile);

/** What a newcomer waits for, and downloads. */
interface Start {
  freshS: number;
  secondS: number;
  demoS: number;
  installedMb: number;
  packages: number;
}

/** From a fresh clone to a running service: the present commit and the one of `--against`, in turns. npm's cache is warm for both. */
export const start: Scenario = {
  name: "start",
  isLong: true,
  run: async (rig): Promise<Row[]> => {
    if (rig.against === null) throw new Error("name a commit to compare with: --against <commit>");
    const commits = { ours: "HEAD", theirs: rig.against };
    await measure(commits.ours); // Fills npm's cache.
    await measure(commits.theirs);
    const ours: Start[] = [];
    const theirs: Start[] = [];
    for (let pair = 0; pair < rig.size(PAIRS, 1); pair++) {
      ours.push(await measure(commits.ours));
      theirs.push(await measure(commits.theirs));
    }

    const row = (what: string, must: number, of: (one: Start) => number, unit: string) => {
      const ratios = ours.map((one, pair) => of(one) / of(theirs[pair] ?? one));
      const told = `${inTurns(ours.map(of))} ${unit}; ${rig.against ?? ""}: ${inTurns(theirs.map(of))} ${unit}`;
      return atMost(
        what,
        { must, aim: must, unit: "×" },
        { value: median(ratios), measured: told },
      );
    };
    const [one] = ours;
    return [
      row("fresh clone to ready", 0.35, ({ freshS }) => freshS, "s"),
      row("fresh clone to the end of the demo", 0.45, ({ demoS }) => demoS, "s"),
      row("second start", 0.8, ({ secondS }) => secondS, "s"),
      row(`installed, ${one?.packages ?? 0} packages`, 0.5, ({ installedMb }) => installedMb, "MB"),
    ];
  },
};

async function measure(commit: string): Promise<Start> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-start-"));
  try {
    const served = await clone(commit, join(folder, "served"));
    const freshS = await timeStart(served);
    const secondS = await timeStart(served);
    await removeEmbedded(join(served, ".data"));
    const demoS = await timeDemo(await clone(commit, join(folder, "shown")));
    return { freshS, secondS, demoS, ...(await installedIn(served)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function clone(commit: string, folder: string): Promise<string> {
  await execute("git", ["clone", "--quiet", ROOT, folder]);
  await execute("git", ["checkout", "--quiet", commit], { cwd: folder });
  return folder;
}

async function installedIn(checkout: string): Promise<Pick<Start, "installedMb" | "packages">> {
  const modules = join(checkout, "node_modules");
  const { stdout } = await execute("du", ["-sk", modules]);
  const lock = await readFile(join(modules, ".package-lock.json"), "utf8");
  const { packages } = JSON.parse(lock) as { packages: object };
  return { installedMb: parseInt(stdout, 10) / 1000, packages: Object.keys(packages).length };
}

/** Seconds from `npm start` until `/readyz` answers 200. Then stops the service. */
async function timeStart(checkout: string): Promise<number> {
  const ports = { PORT: String(await freePort()), OPERATOR_PORT: String(await freePort()) };
  const since = performance.now();
  const child = run(checkout, "start", ports);
  const ended = once(child, "exit");
  try {
    while (!(await isReady(ports.PORT))) {
      if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`);
      if (performance.now() - since > START_LIMIT_MS) throw new Error("npm start was never ready");
      await sleep(POLL_MS);
    }
    return (performance.now() - since) / 1000;
  } finally {
    stop(child);
    await ended;
  }
}

async function timeDemo(checkout: string): Promise<number> {
  const since = performance.now();
  const [status] = (await once(run(checkout, "demo", {}), "exit")) as [number | null];
  if (status !== 0) throw new Error(`npm run demo ended with ${status ?? "a signal"}`);
  return (performance.now() - since) / 1000;
}

function run(cwd: string, script: string, settings: Record<string, string>): ChildProcess {
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, npm_config_update_notifier: "false", ...settings };
  return spawn("npm", ["run", "--silent", script], { cwd, env, stdio: "ignore", detached: true });
}

function stop({ pid = 0, exitCode }: ChildProcess): void {
  if (exitCode === null) process.kill(-pid, "SIGTERM");
}

function isReady(port: string): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function inTurns(values: readonly number[]): string {
  return values.map((value) => value.toFixed(value < 10 ? 2 : 1)).join(", ");
}
