import { execFile, spawn } from "node:child_process";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { freePort } from "../support/free-port.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const SOURCES = join(ROOT, "test/otlp");

const configuration = (port: number) => `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
exporters: { debug: { verbosity: detailed } }
service:
  telemetry: { metrics: { level: none } }
  pipelines: { traces: { receivers: [otlp], exporters: [debug] } }
`;

/** Compiles and starts OpenTelemetry's own collector. It ends with the test. */
export async function startRealCollector(t: TestContext) {
  const folder = await aTemporaryFolder(t);
  for (const file of ["go.mod", "main.go"]) await copyFile(join(SOURCES, file), join(folder, file));
  const go = (...args: string[]) => promisify(execFile)("go", args, { cwd: folder });
  await go("mod", "tidy");
  await go("build", "-o", "collector", ".");

  const port = await freePort();
  await writeFile(join(folder, "config.yaml"), configuration(port));
  const collector = spawn("./collector", ["--config=config.yaml"], { cwd: folder });
  t.after(() => collector.kill("SIGKILL"));
  let text = "";
  const until = (isEnough: (text: string) => boolean) =>
    new Promise<string>((resolve, reject) => {
      const check = () => isEnough(text) && resolve(text);
      collector.stderr.on("data", check);
      collector.once("close", () => reject(new Error(`the collector ended: ${text}`)));
      check();
    });
  collector.stderr.setEncoding("utf8").on("data", (more: string) => (text += more));
  await until((lines) => lines.includes("Everything is ready"));
  return { url: `http://127.0.0.1:${port}`, until };
}

/** The names of the spans, by trace. */
export function namesByTrace(text: string): Map<string, string[]> {
  const traces = new Map<string, string[]>();
  for (const [, trace = "", name = ""] of text.matchAll(
    /Trace ID +: (\w{32})\n(?:.*\n){2} +Name +: (.*)\n/g,
  )) {
    traces.set(trace, [...(traces.get(trace) ?? []), name]);
  }
  return traces;
}
