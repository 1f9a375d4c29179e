import { type DestinationStream, pino } from "pino";
import { printable, printableJson } from "../commands/printable.ts";

/**
 * Lines are written together, because a write for each took a sixteenth of an identity check's time. A pipe takes this many
 * bytes completely or not at all. So the end of the process cuts no line that is shorter.
 */
const TOGETHER = { characters: 4_096, ms: 100 };
/** Bytes that may wait for the log's reader. Further lines are dropped, so that a stuck reader stops nothing. */
const UNREAD_MAX = 4 * 1024 * 1024;

/** Returns the log's output: JSON on standard output within 100 ms, or lines for people at once if it is a terminal. */
export async function openLogOutput(): Promise<DestinationStream> {
  return process.stdout.isTTY ? linesForPeople(process.stdout) : standardOutput();
}

/** Removes control characters from logged texts. Imports the package only here, because a service rarely has a terminal. */
export async function linesForPeople(
  destination: NodeJS.WritableStream & { hasColors?: () => boolean },
): Promise<DestinationStream> {
  const { default: pretty } = await import("pino-pretty");
  const lines = pretty({
    destination,
    colorize: destination.hasColors?.() === true,
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
  });
  return { write: (line) => lines.write(`${withoutControls(line)}\n`) };
}

/** JSON writes most control characters as escapes, and the others unchanged. */
function withoutControls(line: string): string {
  return printable(line.trimEnd()).replace(/\\u00[0-9a-f]{2}/g, "\ufffd");
}

/** Lines that cannot be written, on a full disk for example, are lost. The service continues and can be stopped. */
export function standardOutput(): DestinationStream {
  const output = pino.destination({
    sync: false,
    maxLength: UNREAD_MAX,
    maxWrite: TOGETHER.characters,
    periodicFlush: TOGETHER.ms,
  });
  const flushSync = output.flushSync.bind(output);
  let fails = false;
  output.on("error", () => (fails = true));
  output.on("write", () => (fails = false));
  output.flushSync = () => {
    if (!fails) flushSync(); // It retries until it succeeds and blocks everything else.
  };
  return batchLines(output);
}

/** Hands lines to `output` together, because for each write it measures everything that it holds. */
function batchLines(output: ReturnType<typeof pino.destination>): DestinationStream {
  const [write, flush, flushSync] = [
    output.write.bind(output),
    output.flush.bind(output),
    output.flushSync.bind(output),
  ];
  let lines = "";
  const handOver = () => {
    const text = lines;
    lines = ""; // Cleared first, so that lines do not pile up if the write throws.
    if (text !== "") write(text);
  };
  output.write = (logged) => {
    const line = printableJson(logged);
    if (lines.length + line.length > TOGETHER.characters) handOver();
    lines += line;
    return true;
  };
  output.flush = (done) => {
    handOver();
    flush(done);
  };
  output.flushSync = () => {
    handOver();
    flushSync();
  };
  return output;
}
