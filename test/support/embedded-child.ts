import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

const MODULE = new URL("../../src/builtin/index.js", import.meta.url).href;
const PATIENCE_MS = 30_000;

/**
 * A program that attaches to the database of a DATA_DIR, reports this, and detaches when its standard input
 * ends.
 */
function scriptFor(dataDir: string): string {
  return `
    import { startEmbedded } from ${JSON.stringify(MODULE)};
    const settings = { fsync: "off" };
    try {
      const server = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: console.log, settings });
      console.log("serves");
      for await (const chunk of process.stdin) chunk;
      await server.stop();
    } catch (error) {
      console.log("fails:", error.message);
    }`;
}

/**
 * Attaches to the database of a DATA_DIR and detaches again, in a process that may hang. Returns all its
 * output, and whether it ended in time. `through` is a command that runs the process.
 */
export async function visit(
  dataDir: string,
  through: string[] = [],
): Promise<{ said: string; inTime: boolean }> {
  const child = spawnNode(dataDir, through);
  child.stdin.end();
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const [, killer] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  return { said, inTime: killer === null };
}

/** Attaches to the database of a DATA_DIR in another process. Its `stop` detaches and ends it. */
export async function attachFrom(
  t: TestContext,
  dataDir: string,
  through: string[] = [],
): Promise<{ child: ChildProcess; stop: () => Promise<void> }> {
  const child = spawnNode(dataDir, through);
  t.after(() => child.kill("SIGKILL"));
  for await (const line of createInterface(child.stdout)) {
    if (line === "serves") break;
    if (line.startsWith("fails:")) throw new Error(line);
  }
  const exited = once(child, "exit");
  return {
    child,
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

function spawnNode(dataDir: string, through: string[]) {
  const [program = "", ...args] = [
    ...[...through, process.execPath, "--input-type=module", "--eval", scriptFor(dataDir)],
  ];
  return spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
}
