import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { Arrivals } from "./arrivals.ts";
import { type Limits, run } from "./program.ts";

export interface Line {
  type: "listening" | "delivery" | "sender_gone" | "no_request" | "secret";
  url: string;
  verdict: string;
  attempt: number;
  event_id: string;
  answer: { status: number | null; delay_ms: number };
}

/** Runs `listen --json` as a process and resolves when it receives. */
export async function startListener(
  t: TestContext,
  args: string[],
  env: Record<string, string>,
  limits: Limits = {},
) {
  const child = run(["listen", "--json", ...args], env, "pipe", { ...limits, hasInput: true });
  t.after(() => child.kill("SIGKILL"));
  const exited = once(child, "exit") as Promise<[number | null]>;
  const lines = new Arrivals<Line>();
  createInterface(child.stdout).on("line", (line) => lines.add(JSON.parse(line) as Line));
  child.stderr.pipe(process.stderr);

  const { url } = await lines.until((all) => all.find(({ type }) => type === "listening"));
  return {
    url,
    port: new URL(url).port,
    lines,
    type: (text: string) => child.stdin?.write(`${text}\n`),
    /** Resolves to the lines of the event's attempts when there are `count` of them. */
    attemptsOf: (eventId: unknown, count: number) =>
      lines.until((all) => {
        const found = all.filter(
          ({ type, event_id }) => type === "delivery" && event_id === eventId,
        );
        return found.length >= count ? found : undefined;
      }),
    end: async () => {
      child.kill("SIGINT");
      return (await exited)[0];
    },
  };
}
