import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, isBuilt } from "./compile.js";
import { underLock } from "./lock.js";
import { areInstalled, install } from "./packages.js";

/** The checkout that these scripts lie in. */
export const ROOT = realpathSync(fileURLToPath(new URL("..", import.meta.url)));

/**
 * Installs and builds the checkout if that is not done yet; ends the process with a message if it
 * cannot. Writes nothing when all is done, so that somebody else's checkout will do.
 *
 * `dev` asks for the packages for development even when nothing is to be built.
 */
export async function makeReady({ dev = false } = {}) {
  try {
    if (isReady(dev)) return;
    await stoppable((signal) => {
      const onWait = () => say("waiting for another process that prepares this folder");
      return underLock(join(ROOT, "dist.lock"), () => prepare(dev, signal), { onWait, signal });
    });
  } catch (error) {
    say(`cannot prepare ${ROOT}: ${error.message}`);
    process.exit(1);
  }
}

function isReady(dev) {
  return isBuilt(ROOT) && areInstalled(ROOT, { dev });
}

async function prepare(dev, signal) {
  const built = isBuilt(ROOT); // Asked again: whoever had the lock before us may have done it.
  if (!areInstalled(ROOT, { dev: dev || !built })) {
    say("installing packages");
    await install(ROOT, signal);
  }
  if (!built) {
    say("building");
    await build(ROOT, signal);
  }
}

/** Lets `work` clean up after a signal to end, and ends by that signal then. */
async function stoppable(work) {
  const stop = new AbortController();
  const heard = (name) => stop.abort(name);
  const names = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const name of names) process.on(name, heard);
  try {
    await work(stop.signal);
  } finally {
    for (const name of names) process.off(name, heard);
    if (stop.signal.aborted) process.kill(process.pid, stop.signal.reason);
  }
}

function say(line) {
  console.error(`partner-api: ${line}`);
}
