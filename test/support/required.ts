import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { TestContext } from "node:test";
import { promisify } from "node:util";

/**
 * Whether the program is there. Where it is not, a stranger's run skips the test and says so; the
 * gate, which installs all of them, fails.
 */
export async function requireProgram(
  t: TestContext,
  program: string,
  args: readonly string[],
): Promise<boolean> {
  try {
    await promisify(execFile)(program, args);
    return true;
  } catch (error) {
    skipOrFail(t, `${program} does not run here: ${(error as Error).message}`);
    return false;
  }
}

/** Nothing is skipped where `CI` is set: a gate that tests less than it says would be worse than none. */
export function skipOrFail(t: TestContext, reason: string): void {
  if (process.env["CI"]) assert.fail(reason);
  t.skip(reason);
}
