import { randomUUID } from "node:crypto";
import { constants, link, open, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makePath } from "../embedded-postgres/index.ts";

const BYTES_MAX = 64 * 1024;
const READING = constants.O_RDONLY | constants.O_NONBLOCK;

const isRoot = () => process.geteuid?.() === 0;

/**
 * The content of a secret file that only we may read; null while there is none. Root reads its own alone, through no link
 * that somebody else may have made, and nobody waits at a pipe that lies in its place.
 */
export async function readKept(path: string): Promise<string | null> {
  try {
    const file = await open(path, READING | (isRoot() ? constants.O_NOFOLLOW : 0));
    try {
      const found = await file.stat();
      if (!found.isFile() || found.size > BYTES_MAX) throw new Error(`${path} is no secret file`);
      if (isRoot() && found.uid !== 0) throw new Error(`${path} is not root's`);
      return (await file.readFile("utf8")).trim();
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "ELOOP") {
      throw new Error(`${path} is a link: root reads no secret through one`, { cause: error });
    }
    throw error;
  }
}

/** Whether its mode lets any user read or write a secret file. Its group may: a container's volumes are made so. */
export async function isOpenToAll(path: string): Promise<boolean> {
  try {
    return ((await stat(path)).mode & 0o006) !== 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Writes a secret file whole or not at all. When another process was first, its content is the answer. */
export async function keep(path: string, content: string): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  await makePath(dirname(path), 0o700);
  // Flushed, or a crash may leave it empty.
  await writeFile(draft, `${content}\n`, { flag: "wx", mode: 0o600, flush: true });
  try {
    await link(draft, path);
    return content;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return (await readKept(path)) ?? content;
  } finally {
    await rm(draft);
  }
}
