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
 * Runs `work` while nobody else runs work under the same path; calls `onWait` once if it has to wait
 * for that. A holder that died without a word is found out after ten seconds.
 *
 * The lock is a folder with one file in it, whose name is unique and which its holder touches. It is
 * taken by renaming such a folder onto the path, which succeeds only while that is absent or empty.
 * A dead holder's file is removed by name, so nobody can remove a lock that has just changed hands.
 * (Process ids would not do: two containers that share the folder do not share those.)
 */
export async function underLock(path, work, { onWait, signal }) {
  const name = randomUUID();
  await take(path, name, { onWait, signal });

  const file = join(path, name);
  // Throws when the file is gone: taken for dead (stopped for long, say), we must not go on.
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

/** A function that names the holder once it has not moved for a while, by no clock but our own. */
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
    return []; // Released while we looked.
  }
}

function release(path, name) {
  rmSync(join(path, name), { force: true });
  try {
    rmdirSync(path);
  } catch {
    // Somebody has it already.
  }
}
