import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ARCHIVE = fileURLToPath(new URL("go-archive.py", import.meta.url));
const PATH = /^[a-z0-9-]+(\.[a-z0-9-]+)+(\/[A-Za-z0-9_-][A-Za-z0-9._~-]*)+$/;

/** The module's path: GO_MODULE, or the one in the sources, which belongs to nobody. Throws if it cannot be a path. */
export function goModule(root, { GO_MODULE } = process.env) {
  const path = GO_MODULE || writtenPath(root);
  if (!PATH.test(path)) throw new Error(`GO_MODULE must be like github.com/acme/webhook: ${path}`);
  return path;
}

/** Writes the committed packages/go in the format of module proxies, under its path. Returns the file's path. */
export async function writeGoModule(root, folder, path = goModule(root)) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const output = join(folder, `partner-api-webhook-go-v${version}.zip`);
  const cwd = join(root, "packages/go");
  const names = [writtenPath(root), path];
  const git = execFile("git", ["archive", "HEAD"], { cwd, encoding: "buffer" });
  const python = execFile("python3", [ARCHIVE, output, `${path}@v${version}/`, ...names]);
  git.stdout.pipe(python.stdin);
  const faults = [];
  for (const child of [git, python]) child.stderr.on("data", (text) => faults.push(text));
  const ends = await Promise.all([git, python].map((child) => once(child, "close")));
  if (ends.some(([status]) => status !== 0)) throw new Error(`go module: ${faults.join("")}`);
  return output;
}

function writtenPath(root) {
  const text = readFileSync(join(root, "packages/go/go.mod"), "utf8");
  return /^module (\S+)$/m.exec(text)[1];
}
