import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { runNode } from "./run.js";

/**
 * Whether node_modules holds what package-lock.json asks for, by the list that npm leaves there at
 * the very end of an install. Packages for development count only when `dev` is true.
 */
export function areInstalled(root, { dev }) {
  const wanted = packagesIn(join(root, "package-lock.json"));
  const present = packagesIn(join(root, "node_modules/.package-lock.json"));
  const withoutOptional = !Object.values(present).some((entry) => entry.optional);

  return Object.entries(wanted).every(([path, entry]) => {
    const found = present[path];
    if (found) return found.version === entry.version;
    if (path === "") return true; // The project itself.
    if (entry.dev) return !dev;
    return entry.optional && (withoutOptional || !isForThisMachine(entry));
  });
}

function packagesIn(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).packages : {};
}

function isForThisMachine({ os = [process.platform], cpu = [process.arch] }) {
  return os.includes(process.platform) && cpu.includes(process.arch);
}

/** Installs exactly what package-lock.json says, development included whatever NODE_ENV says. */
export async function install(root, signal) {
  const options = [
    "--include=dev",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
  ];
  const args = [findNpm(), "ci", ...options, "--loglevel=error"];
  await runNode("npm ci", args, { cwd: root, signal });
}

/** The npm that started us, else the one beside this Node.js, else the one on the path. */
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
  throw new Error("needs npm, which is neither beside Node.js nor on the path");
}
