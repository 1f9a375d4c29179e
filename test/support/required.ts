import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { TestContext } from "node:test";
import { promisify } from "node:util";

/**
 * Checks that a program exists. If it does not, a local run skips the test and names the program. The gate
 * installs all programs, so there the test fails.
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

/** With `CI`, nothing is skipped, because a gate must not test less than it reports. */
export function skipOrFail(t: TestContext, reason: string): void {
  if (process.env["CI"]) assert.fail(reason);
  t.skip(reason);
}
