import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** The owner of files and processes. */
export interface Account {
  uid: number;
  gid: number;
}

const MAKERS = [
  ["/usr/sbin/useradd", "-r", "-U", "-M", "-s", "/usr/sbin/nologin"],
  ["/usr/sbin/adduser", "-S", "-D", "-H"], // BusyBox
] as const;

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
export async function accountOf({ uid, gid }: Account): Promise<Account> {
  const fields = (await readAccounts()).find((account) => Number(account[2]) === uid);
  return { uid, gid: fields ? Number(fields[3]) : gid };
}

async function find(name: string): Promise<Account | null> {
  const fields = (await readAccounts()).find((account) => account[0] === name);
  const account = { uid: Number(fields?.[2]), gid: Number(fields?.[3]) };
  return account.uid > 0 && account.gid >= 0 ? account : null;
}

async function readAccounts(): Promise<string[][]> {
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  return passwd.split("\n").map((line) => line.split(":"));
}

async function make(name: string): Promise<Account | null> {
  for (const [program, ...options] of MAKERS) {
    await promisify(execFile)(program, [...options, name]).catch(() => undefined);
    const account = await find(name);
    if (account) return account;
  }
  return null;
}

/** Switches this process permanently to the account, without other groups. Throws if any part fails. */
export function become({ uid, gid }: Account): void {
  process.on("SIGUSR1", () => undefined); // Without a listener Node.js opens its debugger, and the account may signal us.
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);

  const ids = [process.getuid?.(), process.geteuid?.(), process.getgid?.(), process.getegid?.()];
  const groups = (process.getgroups?.() ?? []).filter((group) => group !== gid);
  if (ids.join() === [uid, uid, gid, gid].join() && groups.length === 0 && !canReturn()) return;
  throw new Error(
    `this process could not give up its rights for those of uid ${uid}: start it as that user`,
  );
}

function canReturn(): boolean {
  try {
    process.setuid?.(0);
    return true;
  } catch {
    return false;
  }
}
