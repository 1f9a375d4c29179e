import { spawn } from "node:child_process";
import { once } from "node:events";

const LEASH = new URL("./leash.js", import.meta.url).href;

/** Runs a Node.js program that ends with this process. Its output is shown only if it fails. */
export async function runNode(what, args, { cwd, signal }) {
  signal.throwIfAborted();
  const child = spawn(process.execPath, ["--import", LEASH, ...args], { cwd, signal });
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => output.push(chunk));
  child.on("error", () => {}); // Aborted. Wait for `close`.

  const [status, killedBy] = await once(child, "close");
  signal.throwIfAborted();
  if (status !== 0) {
    throw new Error(`${what} failed (${killedBy ?? status})\n${Buffer.concat(output)}`.trimEnd());
  }
}
