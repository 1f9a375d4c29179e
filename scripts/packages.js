import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { runNode } from "./run.js";

/**
 * Returns true if node_modules matches package-lock.json, judged by the list that npm writes at the
 * end of an install. Checks packages for development only if `dev` is true.
 */
export function areInstalled(root, { dev }) {
  const wanted = packagesIn(join(root, "package-lock.json"));
  const present = packagesIn(join(root, "node_modules/.package-lock.json"));
  const withoutOptional = !Object.values(present).some((entry) => entry.optional);

  return Object.entries(wanted).every(([path, entry]) => {
    const found = present[path];
    if (found) return found.version === entry.version;
    if (path === "") return true; // The project itself.
    if (entry.dev && !dev) return true;
    return entry.optional && (withoutOptional || !isForThisMachine(entry));
  });
}

function packagesIn(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).packages : {};
}

function isForThisMachine({ os = [process.platform], cpu = [process.arch] }) {
  return os.includes(process.platform) && cpu.includes(process.arch);
}

/** Installs exactly package-lock.json: with `dev`, also the packages for development, even if NODE_ENV is production. */
export async function install(root, { dev, signal }) {
  const options = [
    dev ? "--include=dev" : "--omit=dev",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
  ];
  const args = [findNpm(), "ci", ...options, "--loglevel=error"];
  await runNode("npm ci", args, { cwd: root, signal });
}

/** Returns the npm that started this process, or the one next to Node.js, or the one on the path. */
export function findNpm() {
  const folder = dirname(process.execPath);
  const candidates = [
    process.env.npm_execpath ?? "",
    join(folder, "../lib/node_modules/npm/bin/npm-cli.js"),
    join(folder, "node_modules/npm/bin/npm-cli.js"),
    ...(process.env.PATH ?? "").split(delimiter).map((entry) => join(entry, "npm")),
  ];
  for (const candidate of candidates.filter((path) => existsSync(path))) {
    const path = realpathSync(candidate);
    if (basename(path) === "npm-cli.js") return path;
  }
  throw new Error("npm was found neither next to Node.js nor on the path");
}
