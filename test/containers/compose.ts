import { mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findLastRelease } from "../upgrade/last-release.ts";
import { guideCommand } from "../support/guide.ts";
import { ROOT } from "../support/root.ts";
import { type Given, Trial } from "./trial.ts";

const SERVICES = ["database", "node-a", "node-b", "balancer", "prometheus", "grafana"];
const DISK_BYTES = 700 * 1024 * 1024;

/** compose.yaml as docs/operations.md says, and what can happen to it. */
export async function tryCompose(given: Given): Promise<void> {
  const disk = await aDisk(given);
  await mkdir(join(disk, "data"));
  const plan = { files: ["compose.yaml"], nodes: ["node-a", "node-b"], volume: join(disk, "data") };
  const trial = await Trial.open(given, plan);

  const since = Date.now();
  await trial.shell(await guideCommand(/^docker compose up --build --wait$/));
  const seconds = (Date.now() - since) / 1_000;
  trial.tell({
    name: "start, with the build",
    requests: 0,
    failed: 0,
    lost: 0,
    seconds,
    fault: null,
  });
  await trial.compose("run", "--rm", "--no-deps", "--user", "4711", "node-a", "doctor");
  await trial.during("deliveries", await trial.partner("first"), () => sleep(5_000), {
    failedMax: 0,
  });
  await tryMigrationThatFails(trial);
  await trial.compose("down", "--timeout", "30");
  await rm(join(disk, "data"), { recursive: true });
  await mkdir(join(disk, "data"));
  await given.run("docker", ["volume", "rm", "partner-api_database"]);

  const last = await tagLastRelease(given);
  await trial.compose("up", "--wait");
  const partner = await trial.partner("acme");
  await trial.during(
    `upgrade from ${last}`,
    partner,
    async () => {
      for (const step of ["build migrate", "run --rm migrate", "up .* node-a", "up .* node-b"])
        await trial.shell(await guideCommand(new RegExp(`^docker compose ${step}$`)));
    },
    { failedMax: 0 },
  );

  for (const service of SERVICES)
    await trial.during(`kill -9 of ${service}`, partner, async () => {
      await trial.crash(service);
      await sleep(1_000);
      await trial.healthy(...SERVICES);
    });
  await trial.during("the database is stopped for a minute", partner, async () => {
    await trial.compose("stop", "database");
    await sleep(60_000);
    await trial.compose("start", "database");
    await trial.healthy(...SERVICES);
  });
  await trial.during("the database's disk is full for 20 s", partner, async () => {
    await given.run("fallocate", ["--length", "2G", join(disk, "filler")]).catch(() => undefined);
    await given.run("dd", ["if=/dev/zero", `of=${disk}/rest`, "bs=64k"]).catch(() => undefined);
    await sleep(20_000);
    await rm(join(disk, "filler"), { force: true });
    await rm(join(disk, "rest"), { force: true });
    await trial.healthy(...SERVICES);
  });
  await trial.during("down, and up with the volume kept", partner, async () => {
    await trial.compose("down");
    await trial.compose("up", "--wait");
  });
  await trial.compose("down", "--volumes");
}

/** `up --wait` ends, and names the migration. */
async function tryMigrationThatFails(trial: Trial): Promise<void> {
  const since = Date.now();
  const said = await trial.shell("OWNER_PASSWORD=wrong docker compose up --wait").then(
    () => "it succeeded",
    (error: unknown) => String(error),
  );
  trial.tell({
    ...{ name: "a migration that fails", requests: 0, failed: 0, lost: 0 },
    seconds: (Date.now() - since) / 1_000,
    fault: said.includes(`service "migrate" didn't complete successfully`) ? null : said,
  });
}

/** A file system of its own for the database, so that it can be filled. */
async function aDisk({ run, folder, afterwards }: Given): Promise<string> {
  const [image, disk] = [join(folder, "disk.img"), join(folder, "disk")];
  await writeFile(image, "");
  await truncate(image, DISK_BYTES);
  await run("mkfs.ext4", ["-q", image]);
  await mkdir(disk);
  await run("mount", ["-o", "loop", image, disk]);
  afterwards.after(() => run("umount", [disk]));
  return disk;
}

/** Builds the image of the last release with its own Dockerfile, and gives it the name that compose.yaml uses. */
async function tagLastRelease({ run, folder, from }: Given): Promise<string> {
  const release = from === null ? await findLastRelease() : { version: from, commit: from };
  if (!release) throw new Error("this clone lacks the commit of the last release");
  const source = join(folder, "release");
  await mkdir(source);
  await run("sh", ["-c", `git archive ${release.commit} | tar x -C ${source}`], { cwd: ROOT });
  const file = join(source, "deploy/Dockerfile");
  await run("docker", ["build", "--quiet", "--file", file, "--tag", "partner-api", source]);
  return release.version;
}
