import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, isBuilt } from "./compile.js";
import { underLock } from "./lock.js";
import { areInstalled, install } from "./packages.js";

/** The root folder of the checkout. */
export const ROOT = realpathSync(fileURLToPath(new URL("..", import.meta.url)));

/**
 * Installs and builds what a service needs, or with `dev` everything. Ends the process with a message if it cannot.
 * Writes nothing if everything is ready, so that a read-only checkout works.
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
  return areInstalled(ROOT, { dev }) && isBuilt(ROOT, { dev });
}

/** Checks again what is missing, because the lock's previous holder may have done it. */
async function prepare(dev, signal) {
  if (!areInstalled(ROOT, { dev })) {
    await timed("installing packages", () => install(ROOT, { dev, signal }));
  }
  if (!isBuilt(ROOT, { dev })) {
    await timed("building", () => build(ROOT, { dev, signal }));
  }
}

/** Says what is being done, and in the same line how long it took. */
async function timed(what, work) {
  const since = performance.now();
  process.stderr.write(`partner-api: ${what} … `);
  let result = "failed";
  try {
    await work();
    result = `${((performance.now() - since) / 1000).toFixed(1)} s`;
  } finally {
    process.stderr.write(`${result}\n`);
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
