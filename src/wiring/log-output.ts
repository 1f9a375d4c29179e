import { type DestinationStream, pino } from "pino";
import { printable } from "../commands/printable.ts";

/**
 * Lines go out together: a write for each was a sixteenth of what an identity check costs. A pipe takes so many bytes
 * whole or not at all, so that the end of the process cuts none in two that is not longer itself.
 */
const TOGETHER = { characters: 4_096, ms: 100 };
/** Bytes that wait for whoever reads the log. Beyond that lines are dropped: a reader that hangs stops nothing. */
const UNREAD_MAX = 4 * 1024 * 1024;

/** Where the log goes: JSON on standard output, within 100 ms; on a terminal lines for people, at once. */
export async function openLogOutput(): Promise<DestinationStream> {
  return process.stdout.isTTY ? linesForPeople(process.stdout) : standardOutput();
}

/** What the log quotes cannot control the terminal. The package is loaded only here: a service rarely has a terminal. */
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

/** JSON writes most control characters as escapes, and the others as they are. */
function withoutControls(line: string): string {
  return printable(line.trimEnd()).replace(/\\u00[0-9a-f]{2}/g, "\ufffd");
}

/** What cannot be written, to a full disk say, costs its lines: the service goes on, and ends when it is told to. */
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
    if (!fails) flushSync(); // Which tries again until it succeeds, and lets nothing else happen.
  };
  return gatherLines(output);
}

/** Lets `output` have many lines at a time: with each that it is given it measures all that it holds. */
function gatherLines(output: ReturnType<typeof pino.destination>): DestinationStream {
  const [write, flush, flushSync] = [
    output.write.bind(output),
    output.flush.bind(output),
    output.flushSync.bind(output),
  ];
  let lines = "";
  const handOver = () => {
    const text = lines;
    lines = ""; // First: a write that fails must not leave them here to grow.
    if (text !== "") write(text);
  };
  output.write = (line) => {
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
