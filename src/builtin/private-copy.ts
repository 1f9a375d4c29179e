import { chmod, copyFile, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { withLock } from "./lock.ts";

// Concurrent callers share one wait for the disk.
const AT_ONCE = 16;

/**
 * Copies a tree of programs to `to`, readable by everybody, and returns `to`. The copy is complete or absent, also with several
 * processes at once and after a power failure. An existing copy is kept.
 */
export async function privateCopy(
  from: string,
  to: string,
  finish: (draft: string) => Promise<void>,
): Promise<string> {
  if (await exists(to)) return to;
  await makeFolder(dirname(to));
  await withLock(dirname(to), async () => {
    if (await exists(to)) return; // Another process was faster.
    await removeDrafts(to);
    const draft = `${to}.draft`;
    await copyTree(from, draft);
    await finish(draft);
    await rename(draft, to);
  });
  return to;
}

async function copyTree(from: string, to: string): Promise<void> {
  await makeFolder(to);
  const entries = await readdir(from, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  for (let i = 0; i < files.length; i += AT_ONCE) {
    await Promise.all(
      files.slice(i, i + AT_ONCE).map(({ name }) => copyDurably(join(from, name), join(to, name))),
    );
  }
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    await copyTree(join(from, name), join(to, name));
  }
}

async function copyDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target);
  const file = await open(target, "r+");
  try {
    const { mode } = await file.stat();
    await file.chmod((mode & 0o111) === 0 ? 0o644 : 0o755);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Removes the unfinished copies of processes that ended. */
async function removeDrafts(to: string): Promise<void> {
  for (const name of await readdir(dirname(to))) {
    if (!name.startsWith(`${basename(to)}.`)) continue;
    await rm(join(dirname(to), name), { recursive: true, force: true });
  }
}

// The umask does not apply to chmod.
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}
