import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { after } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "./root.ts";
import { aTemporaryFolder } from "./temporary-folder.ts";

const { findNpm } = (await import(new URL("scripts/packages.js", `file://${ROOT}`).href)) as {
  findNpm: () => string;
};

export interface InstalledPackage {
  /** A project with only the package. */
  folder: string;
  /** Every file of the tarball. */
  files: string[];
  node: (...args: string[]) => Promise<string>;
  npx: (...args: string[]) => Promise<string>;
  /** Runs a script as if it were typed into a terminal. */
  bash: (script: string) => Promise<string>;
}

/** Packs this checkout and installs the tarball in an empty project, without a network. */
export async function installPackage(): Promise<InstalledPackage> {
  const folder = await aTemporaryFolder({ after });
  const env = {
    HOME: folder,
    PATH: [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
    npm_config_cache: join(folder, ".cache"),
    npm_config_offline: "true",
    npm_config_omit: "optional",
    npm_config_ignore_scripts: "true",
    npm_config_update_notifier: "false",
  };
  const run = async (cwd: string, ...args: string[]) =>
    (await promisify(execFile)(process.execPath, args, { cwd, env })).stdout;
  const npm = (cwd: string, ...args: string[]) => run(cwd, findNpm(), ...args);

  const packed = await npm(
    ROOT,
    "pack",
    "--ignore-scripts",
    "--json",
    "--pack-destination",
    folder,
  );
  const [tarball] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  await provideDependencies(join(folder, "node_modules"));
  await npm(folder, "install", tarball.filename);

  return {
    folder,
    files: tarball.files.map(({ path }) => path),
    node: (...args) => run(folder, ...args),
    npx: (...args) => npm(folder, "exec", "--no", "--", ...args),
    bash: async (script) =>
      (
        await promisify(execFile)("bash", ["-O", "expand_aliases", "-euc", script], {
          cwd: folder,
          env,
        })
      ).stdout,
  };
}

/** Adds the package's dependencies as npm would download them. npm does not download existing ones. */
async function provideDependencies(folder: string): Promise<void> {
  const lock = await readFile(join(ROOT, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(lock) as {
    packages: Record<string, { dev?: true; optional?: true; link?: true }>;
  };
  const names = Object.entries(packages)
    .filter(([, { dev, optional, link }]) => !dev && !optional && !link)
    .flatMap(([path]) => /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1] ?? []);

  const from = join(ROOT, "node_modules");
  await mkdir(join(folder, ".bin"), { recursive: true });
  for (const name of names) await cp(join(from, name), join(folder, name), { recursive: true });
  for (const name of await readdir(join(from, ".bin"))) {
    const target = await readlink(join(from, ".bin", name)).catch(() => "");
    if (!names.some((owner) => target.startsWith(`../${owner}/`))) continue;
    await cp(join(from, ".bin", name), join(folder, ".bin", name), { verbatimSymlinks: true });
  }
}
