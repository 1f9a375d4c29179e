import type { Readable } from "node:stream";
import { parseReport, type Report } from "./protocol.ts";

/** No report is longer. */
const LINE_MAX = 8_192;
/** A keeper never sends as many. */
const LINES_PER_MINUTE = 300;
const MINUTE_MS = 60_000;

/** Yields the reports of a keeper until it ends. Throws if it sends too many or malformed ones. */
export async function* readReports(output: Readable): AsyncGenerator<Report> {
  let rest = "";
  let lines = 0;
  let since = performance.now();

  for await (const chunk of output.setEncoding("utf8") as AsyncIterable<string>) {
    const complete = (rest + chunk).split("\n");
    rest = complete.pop() ?? "";
    if (performance.now() - since > MINUTE_MS) [lines, since] = [0, performance.now()];
    lines += complete.length;
    if (lines > LINES_PER_MINUTE || [...complete, rest].some((line) => line.length > LINE_MAX)) {
      throw new Error("PostgreSQL's keeper sends too many or too long reports");
    }
    for (const line of complete) {
      const report = parseReport(line);
      if (report === null) throw new Error("PostgreSQL's keeper sent a malformed report");
      yield report;
    }
  }
}
