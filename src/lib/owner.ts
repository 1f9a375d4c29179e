import { existsSync } from "node:fs";
import { access, lstat, readlink } from "node:fs/promises";
import { join, parse, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type Account, accountOf, become, homeFolder, makePath } from "../builtin/index.ts";

const LINKS_MAX = 40;

/** A user other than root who can change the target of a path. */
interface FolderOwner {
  owner: Account;
  /** Says which part of the path belongs to whom. */
  whose: string;
}

/** Becomes that user, for a command that has loaded all of its code and works on files only. See `becomeOwner`. */
export async function becomeFolderOwner(
  folder: string,
  log: (message: string) => void,
): Promise<void> {
  const found = await findFolderOwner(folder);
  if (found === null) return;
  become(await accountOf(found.owner));
  log(`${found.whose}: continuing as that user`);
}

/** Returns null if only root can change the folder, or if we are not root. Throws if a folder of root can be replaced. */
export async function findFolderOwner(folder: string): Promise<FolderOwner | null> {
  if (process.getuid?.() !== 0) return null;
  const found = (await findOwner(folder)) ?? (await makeAndFindOwner(folder));
  if (found === null) return null;

  const whose = `${found.at} belongs to uid ${found.owner.uid}`;
  if ((await lstat(folder).catch(() => null))?.uid === 0) {
    throw new Error(
      `${folder} belongs to root, but ${whose}. That user can replace ${folder}: give both folders to the same user`,
    );
  }
  return { owner: found.owner, whose };
}

/** Creates the folder first, because in /tmp another user might do so in between. Its next use reports a fault. */
async function makeAndFindOwner(folder: string): ReturnType<typeof findOwner> {
  await makePath(folder, 0o700).catch(() => undefined);
  return findOwner(folder);
}

/** Returns the first owner other than root on the way to a path, links included. Null if root owns all that exists. */
async function findOwner(path: string): Promise<{ owner: Account; at: string } | null> {
  let at = parse(resolve(path)).root;
  let rest = relative(at, resolve(path)).split(sep);

  for (let links = 0; rest.length > 0;) {
    const [name = "", ...after] = rest;
    const next = join(at, name);
    const found = await lstat(next).catch(() => null);
    if (found === null) return null; // Root creates the rest.
    if (found.uid !== 0) return { owner: found, at: next };

    if (found.isSymbolicLink()) {
      if (++links > LINKS_MAX) throw new Error(`${path} contains too many symbolic links`);
      const target = resolve(at, await readlink(next));
      at = parse(target).root;
      rest = [...relative(at, target).split(sep), ...after];
      continue;
    }
    if (after.length > 0 && found.isDirectory()) requireClosed(next, found);
    at = next;
    rest = after;
  }
  return null;
}

/** A user who may write to a folder can replace root's files in it, unless the folder is sticky, as /tmp is. */
function requireClosed(folder: string, { mode, gid }: { mode: number; gid: number }): void {
  if ((mode & 0o1000) !== 0) return;
  if ((mode & 0o002) !== 0) {
    throw new Error(`every user can replace files in ${folder}: chmod o-w`);
  }
  if ((mode & 0o020) !== 0 && gid !== 0) {
    throw new Error(`group ${gid} can replace files in ${folder}: chmod g-w`);
  }
}

const OURSELVES = fileURLToPath(import.meta.url);

/**
 * If another user can change the folder, root's process becomes that user's for good. So a command of root on a user's DATA_DIR
 * has that user's rights, and cannot be misdirected. Does nothing if only root can change the folder, or if we are not root.
 */
export async function becomeOwner(folder: string, log: (message: string) => void): Promise<void> {
  const found = await findFolderOwner(folder);
  if (found === null) return;
  const { owner, whose } = found;
  if (existsSync(homeFolder(folder))) {
    throw new Error(
      `${whose}, but its database ${homeFolder(folder)} belongs to root: give the folder to root`,
    );
  }
  become(await accountOf(owner));
  await access(OURSELVES).catch(() => {
    throw new Error(`${whose}, and uid ${owner.uid} cannot read this installation`);
  });
  log(`${whose}: continuing as that user`);
}
