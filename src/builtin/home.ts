import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { access, chmod, constants, lchown, lstat, mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Account, accountOf, findServerAccount } from "./account.ts";

/** Names the account, the system's folder, the settings file and the cluster. */
export const PRODUCT = "partner-api";
/** The database, and the role that owns it. */
export const DATABASE = "partner";

/** The folder of all built-in databases that root runs on this machine. */
const SYSTEM_FOLDER = join("/var/lib", PRODUCT);

/** Where one built-in database lives: its data, socket, log and the sockets by which its processes show their presence. */
export interface Home {
  folder: string;
  /** The account that root gave the folder to. Root touches nothing in it. Null: the folder is ours. */
  account: Account | null;
}

/**
 * The folder of a DATA_DIR's database. For root it is outside of DATA_DIR, because the unprivileged server could not reach its
 * files below a folder that only root may enter.
 */
export function homeFolder(dataDir: string): string {
  const absolute = resolved(dataDir);
  if (!isRoot()) return join(absolute, "postgres");
  const hash = createHash("sha256").update(absolute).digest("hex");
  return join(SYSTEM_FOLDER, hash.slice(0, 20));
}

/**
 * A URL for our driver and for libpq, psql included. The built-in server asks for no password. With one in the URL, clients never
 * send `PGPASSWORD` or a password of `~/.pgpass` to another program on that socket.
 */
export function socketUrl(folder: string): string {
  return `postgres://${DATABASE}:none@${encodeURIComponent(folder)}:5432/${DATABASE}`;
}

export async function openHome(dataDir: string, log: (message: string) => void): Promise<Home> {
  try {
    await makePath(dataDir, 0o700);
    const folder = homeFolder(dataDir);
    return isRoot() ? await openAsRoot(folder, log) : await openAsUser(folder);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the built-in PostgreSQL cannot use DATA_DIR ${dataDir}: ${why}`, {
      cause: error,
    });
  }
}

/** The folder of the copies of PostgreSQL's programs that root makes for its server accounts. */
export async function openProgramFolder(): Promise<string> {
  return openRootFolder(join(await openRootFolder(SYSTEM_FOLDER), "binaries"));
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

async function openAsUser(folder: string): Promise<Home> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.W_OK | constants.X_OK);
  const { uid } = await lstat(folder);
  if (uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user`);
  return { folder: await realpath(folder), account: null };
}

// Only root can change the folder above the home, so nobody can replace the home.
async function openAsRoot(folder: string, log: (message: string) => void): Promise<Home> {
  await openRootFolder(SYSTEM_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory()) throw new Error(`${folder} is not a folder`);
  if (found.uid !== 0) return { folder, account: await accountOf(found) };

  const account = await findServerAccount(PRODUCT, log);
  await lchown(folder, account.uid, account.gid);
  return { folder, account };
}

/**
 * Creates a folder and its missing parents. Node.js's recursive `mkdir` does not return on a file system without folders to
 * create, such as /proc.
 */
export async function makePath(path: string, mode: number): Promise<void> {
  const parent = dirname(path);
  try {
    await makeFolder(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === path) throw error;
    await makePath(parent, mode);
    await makeFolder(path, mode);
  }
}

async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST" || !(await stat(path)).isDirectory()) throw error;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // It does not exist yet.
  }
}
