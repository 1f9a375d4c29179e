import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, isBuilt } from "./compile.js";
import { underLock } from "./lock.js";
import { areInstalled, install } from "./packages.js";

/** The root folder of the checkout. */
export const ROOT = realpathSync(fileURLToPath(new URL("..", import.meta.url)));

/**
 * Installs and builds the checkout if necessary. Ends the process with a message if it cannot.
 * Writes nothing if everything is ready, so that a read-only checkout works.
 *
 * With `dev`, it also installs the packages for development if no build is necessary.
 */
export async function makeReady({ dev = false } = {}) {
  try {
    if (isReady(dev)) return;
    await stoppable((signal) => {
      const onWait = () => say("waiting for another process to prepare this folder");
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
  const built = isBuilt(ROOT); // Checked again, because the lock's previous holder may have built it.
  if (!areInstalled(ROOT, { dev: dev || !built })) {
    say("installing packages");
    await install(ROOT, signal);
  }
  if (!built) {
    say("building");
    await build(ROOT, signal);
  }
}

/** On a signal, lets `work` clean up and then ends the process by that signal. */
async function stoppable(work) {
  const stop = new AbortController();
  const onSignal = (name) => stop.abort(name);
  const names = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const name of names) process.on(name, onSignal);
  try {
    await work(stop.signal);
  } finally {
    for (const name of names) process.off(name, onSignal);
    if (stop.signal.aborted) process.kill(process.pid, stop.signal.reason);
  }
}

function say(line) {
  console.error(`partner-api: ${line}`);
}
