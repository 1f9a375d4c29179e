import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { access, chmod, constants, lchown, lstat, mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Account, accountOf, findServerAccount } from "./account.ts";
import { makePath } from "./make-path.ts";
import type { Names } from "./names.ts";

/** The folder of all built-in databases that root runs on this machine. */
function systemFolder({ product }: Names): string {
  return join("/var/lib", product);
}

/** Where one built-in database lives: its data, socket, log and the marks of its processes. */
export interface Home {
  folder: string;
  /** The account that root gave the folder to. Root touches nothing in it. Null: the folder is ours. */
  account: Account | null;
  names: Names;
}

/**
 * The folder of a DATA_DIR's database. For root it is outside of DATA_DIR, because the unprivileged server could not reach its
 * files below a folder that only root may enter.
 */
export function homeFolder(names: Names, dataDir: string): string {
  const absolute = resolved(dataDir);
  if (process.getuid?.() !== 0) return join(absolute, "postgres");
  return join(
    systemFolder(names),
    createHash("sha256").update(absolute).digest("hex").slice(0, 20),
  );
}

export async function openHome(
  names: Names,
  dataDir: string,
  log: (message: string) => void,
): Promise<Home> {
  try {
    await makePath(dataDir, 0o700);
    const folder = homeFolder(names, dataDir);
    const opened = process.getuid?.() === 0 ? openAsRoot(names, folder, log) : openAsUser(folder);
    return { ...(await opened), names };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the built-in PostgreSQL cannot use DATA_DIR ${dataDir}: ${why}`, {
      cause: error,
    });
  }
}

/** The folder of the copies of PostgreSQL's programs that root makes for its server accounts. */
export async function openProgramFolder(names: Names): Promise<string> {
  return openRootFolder(join(await openRootFolder(systemFolder(names)), "binaries"));
}

/**
 * Creates a folder that only root can change and everybody may pass through, independent of the umask. Refuses a folder of another
 * owner, because root would follow links in it.
 */
async function openRootFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  const folder = await realpath(path);
  const { uid } = await lstat(folder);
  if (uid !== process.geteuid?.())
    throw new Error(`${folder} does not belong to root: make root its owner`);
  await chmod(folder, 0o755);
  return folder;
}

async function openAsUser(folder: string): Promise<Omit<Home, "names">> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.W_OK | constants.X_OK);
  const { uid } = await lstat(folder);
  if (uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user`);
  return { folder: await realpath(folder), account: null };
}

// Only root can change the folder above the home, so nobody can replace the home.
async function openAsRoot(
  names: Names,
  folder: string,
  log: (message: string) => void,
): Promise<Omit<Home, "names">> {
  await openRootFolder(systemFolder(names));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory()) throw new Error(`${folder} is not a folder`);
  if (found.uid !== 0) return { folder, account: await accountOf(found) };

  const account = await findServerAccount(names.product, log);
  await lchown(folder, account.uid, account.gid);
  return { folder, account };
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // It does not exist yet.
  }
}
