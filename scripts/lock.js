import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const HEARTBEAT_MS = 500;
const DEAD_AFTER_MS = 10_000;

/**
 * Runs `work` under an exclusive lock at `path`. Calls `onWait` once if it has to wait. Takes the
 * lock from a holder that has been dead for ten seconds.
 *
 * The lock is a folder with one file. The file has a unique name, and its holder keeps touching it.
 * To take the lock, a process renames such a folder to the path, which succeeds only if the path is
 * absent or empty. A dead holder's file is removed by name, so a lock that has just changed hands
 * stays. Process ids would not work, because two containers can share the folder but not the ids.
 */
export async function underLock(path, work, { onWait, signal }) {
  const name = randomUUID();
  await take(path, name, { onWait, signal });

  const file = join(path, name);
  // Throws if the file is gone. Another process then took this one for dead and has the lock.
  const heart = setInterval(() => utimesSync(file, new Date(), new Date()), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heart);
    release(path, name);
  }
}

async function take(path, name, { onWait, signal }) {
  const prepared = `${path}-${name}`;
  mkdirSync(prepared);
  writeFileSync(join(prepared, name), "");
  try {
    if (tryRename(prepared, path)) return;
    onWait();
    const watch = watchHolder(path);
    do {
      const dead = watch();
      if (dead !== null) release(path, dead);
      await sleep(HEARTBEAT_MS / 5, undefined, { signal });
    } while (!tryRename(prepared, path));
  } finally {
    rmSync(prepared, { recursive: true, force: true });
  }
}

function tryRename(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(error.code)) return false;
    throw error;
  }
}

/** Returns a function that returns the holder's name if its heartbeat stopped, measured by our clock. */
function watchHolder(path) {
  let seen = "";
  let since = performance.now();
  return () => {
    const [holder = "", beat = 0] = look(path);
    const now = `${holder} ${beat}`;
    if (now !== seen) {
      seen = now;
      since = performance.now();
    }
    return holder !== "" && performance.now() - since > DEAD_AFTER_MS ? holder : null;
  };
}

function look(path) {
  try {
    const [holder] = readdirSync(path);
    return holder === undefined ? [] : [holder, statSync(join(path, holder)).mtimeMs];
  } catch {
    return []; // Released meanwhile.
  }
}

function release(path, name) {
  rmSync(join(path, name), { force: true });
  try {
    rmdirSync(path);
  } catch {
    // Another process has it already.
  }
}
