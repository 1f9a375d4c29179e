import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** The owner of files and processes. */
export interface Account {
  uid: number;
  gid: number;
}

/** The account that PostgreSQL runs as if we are root, because it refuses to run as root. */
export async function findServerAccount(
  product: string,
  log: (message: string) => void,
): Promise<Account> {
  const account = (await find("postgres")) ?? (await find(product)) ?? (await make(product));
  if (account) return account;

  const nobody = await find("nobody");
  if (!nobody)
    throw new Error(
      `PostgreSQL does not run as root, and there is no other account: create a user ${product}, or set DATABASE_URL`,
    );
  log(
    `PostgreSQL runs as the user nobody, and other services of that user can change its files: create a user ${product}`,
  );
  return nobody;
}

/**
 * The account of a file's owner, with the account's own group. The group of a folder may be one that its owner is not a member
 * of. It is used only for an account without a name.
 */
export async function accountOf(owner: Account): Promise<Account> {
  const fields = (await readAccounts()).find(([, , uid]) => Number(uid) === owner.uid);
  return fields ? { uid: owner.uid, gid: Number(fields[3]) } : { uid: owner.uid, gid: owner.gid };
}

async function find(name: string): Promise<Account | null> {
  const fields = (await readAccounts()).find((fields) => fields[0] === name);
  const account = { uid: Number(fields?.[2]), gid: Number(fields?.[3]) };
  return account.uid > 0 && account.gid >= 0 ? account : null;
}

async function readAccounts(): Promise<string[][]> {
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  return passwd.split("\n").map((line) => line.split(":"));
}

async function make(name: string): Promise<Account | null> {
  const commands = [
    ["/usr/sbin/useradd", "-r", "-U", "-M", "-s", "/usr/sbin/nologin", name],
    ["/usr/sbin/adduser", "-S", "-D", "-H", name], // BusyBox
  ] as const;
  for (const [program, ...args] of commands) {
    await promisify(execFile)(program, args).catch(() => undefined);
    const account = await find(name);
    if (account) return account;
  }
  return null;
}
