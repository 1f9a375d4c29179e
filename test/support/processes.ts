import { readdir, readFile, readlink } from "node:fs/promises";

/** The pid of the keeper of a process that uses the built-in PostgreSQL; null when it has none. */
export async function keeperOf(parent: number): Promise<number | null> {
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await read(`${name}/stat`);
    const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(ppid) !== parent || state === "Z") continue;
    if ((await read(`${name}/cmdline`)).includes("keeper/main.js")) return Number(name);
  }
  return null;
}

/** Whether a process lives. */
export async function lives(pid: number): Promise<boolean> {
  const stat = await read(`${pid}/stat`);
  return stat !== "" && !/\) [ZX] /.test(stat);
}

/** The rights that a process has: its ids (real, effective, saved and of the file system), groups and capabilities. */
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

/** What a process was given: its environment, and the paths of what it has open. */
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
