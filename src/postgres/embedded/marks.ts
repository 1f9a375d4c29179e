import { randomBytes } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { identify, isAlive } from "./process-identity.ts";

const MARK = /^\d+-[^.]*\.[0-9a-f]{12}$/;

/** A file name that says which process made it, and that nobody else comes up with. */
export function markName(): string {
  return `${identify(process.pid) ?? ""}.${randomBytes(6).toString("hex")}`;
}

/** Whether the process that made the name still lives. */
export function isLiving(markName: string): boolean {
  return isAlive(markName.split(".")[0] ?? "");
}

/** Leaves a mark of this process in a folder. Returns its path; removing the file takes it back. */
export async function putMark(folder: string): Promise<string> {
  const path = join(folder, markName());
  await writeFile(path, "", { flag: "wx", mode: 0o600 });
  return path;
}

/** The paths of the marks of living processes. What a killed process left behind is swept away. */
export async function listMarks(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => MARK.test(name));
  const dead = names.filter((name) => !isLiving(name));
  await Promise.all(dead.map((name) => rm(join(folder, name), { force: true })));
  return names.filter((name) => !dead.includes(name)).map((name) => join(folder, name));
}
