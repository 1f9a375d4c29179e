import { execFile } from "node:child_process";
import { promisify } from "node:util";

/**
 * Whether this process is in its terminal's foreground. The system stops a background process that reads its terminal. Without a
 * program `ps`, as on Windows, the answer is yes.
 */
export async function isInForeground(): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(process.pid)]);
    return stdout.includes("+");
  } catch {
    return true;
  }
}
