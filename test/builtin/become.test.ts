import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { skipOrFail } from "../support/required.ts";

const MODULE = new URL("../../src/builtin/account.js", import.meta.url).href;
const ACCOUNT = { uid: 65_534, gid: 65_534 };

/** The output of root's process after it became another account. `through` is a command that runs it. */
async function afterBecoming(t: TestContext, print: string, through: string[] = []) {
  const script = `
    import { become } from ${JSON.stringify(MODULE)};
    process.setgroups([0, 4, 6]);
    try { become(${JSON.stringify(ACCOUNT)}); console.log(JSON.stringify(${print})); }
    catch (error) { console.log(JSON.stringify(error.message)); }`;
  const [program = "", ...args] = [
    ...[...through, process.execPath, "--input-type=module", "--eval", script],
  ];
  if (process.getuid?.() === 0) {
    return JSON.parse((await promisify(execFile)(program, args)).stdout) as unknown;
  }
  skipOrFail(t, "only root can become somebody else");
  return null;
}

test("a process that switched to another user has no other id, no group, and cannot switch back", async (t) => {
  const ids = "[process.getuid(), process.geteuid(), process.getgid(), process.getegid()]";
  const found = await afterBecoming(t, `{ ids: ${ids}, groups: process.getgroups() }`);
  if (found) assert.deepEqual(found, { ids: new Array(4).fill(65_534), groups: [65_534] });
});

test("a signal of the other user does not open Node.js's debugger", async (t) => {
  const found = await afterBecoming(t, `process.listenerCount("SIGUSR1")`);
  if (found !== null) assert.equal(found, 1);
});
