import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { access, chmod, constants, lchown, lstat, mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Account, findServerAccount } from "./account.ts";
import { makePath } from "./make-path.ts";

/** What belongs to all the built-in databases that root runs on this machine. */
const SYSTEM_FOLDER = "/var/lib/partner-api";

/** Where one built-in database lives: its data, socket, log and the marks of its processes. */
export interface Home {
  folder: string;
  owner: Account;
  /** Whether we are root and the owner is not, so that what we make must be handed over. */
  handOver: boolean;
}

/**
 * The folder of a DATA_DIR's database. Root's lies elsewhere: below a folder that only root may
 * enter, the unprivileged server could not reach its own files.
 */
export function homeFolder(dataDir: string): string {
  const absolute = resolved(dataDir);
  if (process.getuid?.() !== 0) return join(absolute, "postgres");
  return join(SYSTEM_FOLDER, createHash("sha256").update(absolute).digest("hex").slice(0, 20));
}

export async function openHome(dataDir: string, log: (message: string) => void): Promise<Home> {
  try {
    await makePath(dataDir, 0o700);
    return await (process.getuid?.() === 0 ? openAsRoot(dataDir, log) : openAsUser(dataDir));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the built-in PostgreSQL cannot use DATA_DIR ${dataDir}: ${why}`, {
      cause: error,
    });
  }
}

/** Sees to it that others may pass through root's own folder, whatever root's umask is. */
export async function makeSystemFolder(): Promise<string> {
  await mkdir(SYSTEM_FOLDER, { recursive: true });
  await chmod(SYSTEM_FOLDER, 0o755);
  return SYSTEM_FOLDER;
}

/** PostgreSQL's own data folder. */
export function dataOf({ folder }: Home): string {
  return join(folder, "data");
}

/** A folder inside the home that nobody but its owner and root may enter. */
export async function makeFolder(home: Home, name: string): Promise<string> {
  const path = join(home.folder, name);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await handOver(path, home);
  // The server's account could have laid a link here, for root to follow.
  if ((await ownerOf(path)) === null) throw new Error(`${path} is not a folder`);
  return path;
}

/** Gives what we made, and never what a link leads to, to the home's owner. */
export async function handOver(path: string, home: Home): Promise<void> {
  if (home.handOver) await lchown(path, home.owner.uid, home.owner.gid);
}

async function openAsUser(dataDir: string): Promise<Home> {
  const folder = homeFolder(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.W_OK | constants.X_OK);

  const owner = await ownerOf(folder);
  if (owner === null || owner.uid !== process.getuid?.()) {
    throw new Error(`${folder} belongs to another user`);
  }
  return { folder: await realpath(folder), owner, handOver: false };
}

async function openAsRoot(dataDir: string, log: (message: string) => void): Promise<Home> {
  const folder = homeFolder(dataDir);
  if ((await ownerOf(folder)) === null) {
    // An ordinary user's database: root (the operator's command line, say) joins it as that user.
    const theirs = join(resolved(dataDir), "postgres");
    const owner = await ownerOf(theirs);
    if (owner && owner.uid !== 0) return { folder: theirs, owner, handOver: true };
  }

  await makeSystemFolder();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let owner = await ownerOf(folder);
  if (owner === null || owner.uid === 0) {
    owner = await findServerAccount(log);
    await lchown(folder, owner.uid, owner.gid);
  }
  return { folder: await realpath(folder), owner, handOver: true };
}

async function ownerOf(folder: string): Promise<Account | null> {
  const found = await lstat(folder).catch(() => null);
  return found?.isDirectory() ? { uid: found.uid, gid: found.gid } : null;
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // Not there yet.
  }
}
