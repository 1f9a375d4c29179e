import { spawn } from "node:child_process";
import { once } from "node:events";

const LEASH = new URL("./leash.js", import.meta.url).href;

/** Runs a Node.js program that ends when we end and is quoted only if it fails, under the name `what`. */
export async function runNode(what, args, { cwd, signal }) {
  signal.throwIfAborted();
  const child = spawn(process.execPath, ["--import", LEASH, ...args], { cwd, signal });
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => output.push(chunk));
  child.on("error", () => {}); // Aborted. It is over only when `close` comes.

  const [status, killedBy] = await once(child, "close");
  signal.throwIfAborted();
  if (status !== 0) {
    throw new Error(`${what} failed (${killedBy ?? status})\n${Buffer.concat(output)}`.trimEnd());
  }
}
