import type { Account } from "./account.ts";

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
