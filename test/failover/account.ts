import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";

export interface Account {
  uid?: number;
  gid?: number;
}

/**
 * The account of PostgreSQL and Patroni. Both refuse root, so root's tests use `postgres`. Otherwise it is
 * our own account.
 */
export function serverAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const id = (option: string) => Number(execFileSync("id", [option, "postgres"]).toString());
  return { uid: id("-u"), gid: id("-g") };
}

/** Makes a folder that belongs to the account, inside a folder that every user may enter. */
export async function folderFor(account: Account, parent: string, name: string): Promise<string> {
  await chmod(parent, 0o755);
  const folder = join(parent, name);
  await mkdir(folder, { mode: 0o700 });
  const { uid, gid } = account;
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
  return folder;
}
