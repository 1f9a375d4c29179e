import { readdir, readFile, readlink } from "node:fs/promises";

/** The pids of the keepers that run in the home of a built-in PostgreSQL. */
export async function keepersIn(home: string): Promise<number[]> {
  const found: number[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    if (!(await read(`${pid}/cmdline`)).includes("keeper/main.js")) continue;
    if ((await readlink(`/proc/${pid}/cwd`).catch(() => "")) === home) found.push(Number(pid));
  }
  return found;
}

/** Returns true if the process is alive. */
export async function lives(pid: number): Promise<boolean> {
  const stat = await read(`${pid}/stat`);
  return stat !== "" && !/\) [ZX] /.test(stat);
}

/**
 * The rights of a process: its ids (real, effective, saved and of the file system), groups and capabilities.
 */
export async function rightsOf(pid: number) {
  const status = await read(`${pid}/status`);
  const field = (name: string) =>
    (new RegExp(`^${name}:(.*)$`, "m").exec(status)?.[1] ?? "").trim().split(/\s+/);
  return {
    uid: field("Uid").map(Number),
    gid: field("Gid").map(Number),
    groups: field("Groups").filter(Boolean).map(Number),
    capabilities: [...field("CapPrm"), ...field("CapEff")].map((hex) => BigInt(`0x${hex}`)),
  };
}

/** The environment of a process, and the paths of its open files. */
export async function belongingsOf(pid: number) {
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const paths = descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => ""));
  return {
    environment: (await read(`${pid}/environ`)).split("\0").filter(Boolean),
    open: await Promise.all(paths),
  };
}

async function read(path: string): Promise<string> {
  return readFile(`/proc/${path}`, "utf8").catch(() => "");
}
