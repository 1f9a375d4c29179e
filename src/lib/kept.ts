import { randomUUID } from "node:crypto";
import { constants, link, lstat, open, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makePath } from "../builtin/index.ts";

const BYTES_MAX = 64 * 1024;
const READING = constants.O_RDONLY | constants.O_NONBLOCK;

const isRoot = () => process.geteuid?.() === 0;

/**
 * Returns the content of a secret file that only we may read. Null if it does not exist. Root reads only its own files and
 * follows no link. A pipe in the file's place does not block.
 */
export async function readKept(path: string): Promise<string | null> {
  try {
    const file = await open(path, READING | (isRoot() ? constants.O_NOFOLLOW : 0));
    try {
      const found = await file.stat();
      if (!found.isFile() || found.size > BYTES_MAX)
        throw new Error(`${path} is not a regular file of at most 64 KiB`);
      if (isRoot() && found.uid !== 0) throw new Error(`${path} does not belong to root`);
      return (await file.readFile("utf8")).trim();
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "ELOOP") {
      throw new Error(`${path} is a link: root does not read secrets through links`, {
        cause: error,
      });
    }
    throw error;
  }
}

/**
 * Returns true if every user may read or write a secret file. Its group may, because volumes of containers are made so. Not for a
 * link, if we are root: its target is no secret file, and nobody must be advised to change its mode.
 */
export async function isOpenToAll(path: string): Promise<boolean> {
  try {
    const found = await (isRoot() ? lstat : stat)(path);
    return !found.isSymbolicLink() && (found.mode & 0o006) !== 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Writes a secret file completely or not at all. If another process was first, returns that content. */
export async function keep(path: string, content: string): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  await makePath(dirname(path), 0o700);
  // Flushed, because after a crash the file could be empty.
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

/** Results are reused for this time, so that requests cannot load the database. */
const ANSWER_LIFE_MS = 1_000;

/** Returns a function that reuses one result. Its lifetime starts with the call of `ask`. */
export function kept<Answer>(
  ask: () => Promise<Answer>,
  nowMs: () => number = () => performance.now(),
): () => Promise<Answer> {
  let last: { at: number; answer: Promise<Answer> } | undefined;
  return () => {
    const now = nowMs();
    if (!last || now - last.at > ANSWER_LIFE_MS) last = { at: now, answer: ask() };
    return last.answer;
  };
}
