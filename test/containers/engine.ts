import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Afterwards } from "../ledger/afterwards.ts";
import { ROOT } from "../support/root.ts";

const COMPOSE = { module: "github.com/docker/compose/v2", version: "v2.40.3" };
/** What is built once and kept: Compose, the engine's images, and its layers. */
const KEPT = join(ROOT, "node_modules/.cache/containers");
const PACKAGES = { dockerd: "docker.io", iptables: "iptables", mmdebstrap: "mmdebstrap" };

export type Run = (program: string, args: string[], options?: { cwd?: string }) => Promise<string>;

/** Starts a container engine of this run's own, with Compose. Returns what runs a program that uses it. */
export async function startEngine(afterwards: Afterwards, folder: string): Promise<Run> {
  if (process.getuid?.() !== 0) throw new Error("a container engine needs root");
  const path = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;
  const env: NodeJS.ProcessEnv = {
    ...{ ...process.env, PATH: path, DOCKER_CONFIG: join(KEPT, "config") },
    DOCKER_HOST: `unix://${folder}/docker.sock`,
  };
  const run: Run = async (program, args, options = {}) => {
    const found = promisify(execFile)(program, args, { env, maxBuffer: 2 ** 26, ...options });
    return (await found).stdout.trim();
  };
  await installPackages(run);
  await buildCompose(run);

  const places = [`--data-root=${KEPT}/engine`, `--exec-root=${folder}/run`];
  const daemon = spawn(
    "dockerd",
    [...places, `--pidfile=${folder}/docker.pid`, `--host=unix://${folder}/docker.sock`],
    { env, stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  daemon.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  const ended = once(daemon, "exit");
  afterwards.after(async () => {
    daemon.kill("SIGTERM");
    await ended;
  });
  while (!(await succeeds(run("docker", ["version"])))) {
    if (daemon.exitCode !== null) throw new Error(`dockerd does not run here:\n${said}`);
    await sleep(200);
  }
  return run;
}

async function installPackages(run: Run): Promise<void> {
  const missing: string[] = [];
  for (const [program, name] of Object.entries(PACKAGES))
    if (!(await succeeds(run("which", [program])))) missing.push(name);
  if (missing.length === 0) return;
  await run("apt-get", ["update", "-qq"]);
  await run("apt-get", ["install", "-qq", "--yes", "--no-install-recommends", ...missing]);
}

/** Compose is not in Debian 12. Its module has `replace` lines, so that `go install` refuses it: it is built in its folder. */
async function buildCompose(run: Run): Promise<void> {
  const { module, version } = COMPOSE;
  const plugin = join(KEPT, "config/cli-plugins/docker-compose");
  const kept = join(KEPT, `docker-compose-${version}`);
  if (!(await succeeds(access(kept)))) {
    const { Dir } = JSON.parse(
      await run("go", ["mod", "download", "-json", `${module}@${version}`]),
    ) as { Dir: string };
    const flags = `-s -w -X ${module}/internal.Version=${version}`;
    await run("go", ["build", "-trimpath", `-ldflags=${flags}`, "-o", kept, "./cmd"], { cwd: Dir });
  }
  await mkdir(join(KEPT, "config/cli-plugins"), { recursive: true });
  await copyFile(kept, plugin);
}

export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
