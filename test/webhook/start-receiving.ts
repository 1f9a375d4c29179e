import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";

/** A running receiver: its port and its output so far. */
export interface Receiving {
  port: number;
  output: () => string;
}

/**
 * Starts a program and waits until its output matches `pattern`, `listening on <port>` by default.
 * Ends it with the test.
 */
export async function startReceiving(
  t: TestContext,
  program: string,
  options: { args: string[]; env?: Record<string, string>; cwd?: string; pattern?: RegExp },
): Promise<Receiving> {
  const { args, env, cwd, pattern = /listening on (\d+)/ } = options;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env } });
  let text = "";
  const closed = once(child, "close");
  t.after(async () => {
    child.kill("SIGKILL");
    await closed;
  });

  const port = await new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      const found = pattern.exec(text)?.[1];
      if (found !== undefined) resolve(Number(found));
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    closed.then(() => reject(new assert.AssertionError({ message: `it ended: ${text}` })), reject);
  });
  return { port, output: () => text };
}
