import { spawn } from "node:child_process";
import { once } from "node:events";

const MODULE = new URL("../../src/postgres/embedded.js", import.meta.url).href;
const PATIENCE_MS = 30_000;

/**
 * Attaches to the database of a DATA_DIR and detaches again, in a process of its own that may hang. Returns all that
 * it said, and whether it was in time.
 */
export async function visit(dataDir: string): Promise<{ said: string; inTime: boolean }> {
  const script = `
    import { startEmbedded } from ${JSON.stringify(MODULE)};
    const settings = { fsync: "off" };
    try {
      const server = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: console.log, settings });
      console.log("serves");
      await server.stop();
    } catch (error) {
      console.log("fails:", error);
    }`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const [, killer] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  return { said, inTime: killer === null };
}
