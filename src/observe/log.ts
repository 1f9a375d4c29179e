import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config/config.ts";
import { warningsOf } from "../config/warnings.ts";
import { systemClock } from "../lib/clock.ts";
import { publicId } from "../lib/ids.ts";
import { printable, printableJson } from "../lib/printable.ts";
import type { Dispatcher } from "../queue/dispatcher.ts";
import type { InternalFault } from "../subjects/deliveries/rules.ts";

const PAUSE_MS = 60_000;
const NAMED_MAX = 5;

/**
 * Logs the holders of the most slots and the subscriptions with the lowest limits while deliveries wait for a slot, at most once a
 * minute.
 */
export function createContentionLog(
  log: Logger,
  nowMs = () => performance.now(),
): (dispatcher: Pick<Dispatcher, "holders" | "slowed">) => void {
  let quietUntilMs = -Infinity;
  return (dispatcher) => {
    if (nowMs() < quietUntilMs) return;
    quietUntilMs = nowMs() + PAUSE_MS;
    const { holders, slowed } = dispatcher; // Read only here, because it takes a while.
    log.warn(
      {
        organizations: named("org", mostOf(holders.organizations)),
        failingHosts: Object.fromEntries(mostOf(holders.failingHosts)),
        slowed: named("wh", slowed.toSorted((a, b) => a[1] - b[1]).slice(0, NAMED_MAX)),
      },
      "deliveries wait for a slot",
    );
  };
}

type Counted = [name: string, count: number][];

function mostOf(holders: Counted): Counted {
  return holders.toSorted((a, b) => b[1] - a[1]).slice(0, NAMED_MAX);
}

function named(prefix: "org" | "wh", counted: Counted): Record<string, number> {
  return Object.fromEntries(counted.map(([id, count]) => [publicId(prefix, id), count]));
}

/** The public ids of the deliveries, subscriptions and organizations that an internal fault affects. */
type Affected = Record<string, string>;

/** `error`: the exception, if the fault is one. Its stack is logged. */
export type NoteFault = (
  fault: InternalFault,
  affected: Affected,
  consequence: string,
  error?: unknown,
) => void;

/** A waiting delivery, and its fault, returns after a minute. */
const PERIOD_MS = 60_000;
const LINES_MAX = 20;

/**
 * Logs internal faults: the first ones of each minute one by one, and then their numbers. Faults come by the thousand, and a
 * line for each would fill the disk.
 */
export class FaultLog {
  readonly #log: Logger;
  readonly #counts = new Map<InternalFault, number>();
  #lines = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  note(fault: InternalFault, affected: Affected, consequence: string, err?: unknown): void {
    if (this.#counts.size === 0) setTimeout(() => this.#account(), PERIOD_MS).unref();
    this.#counts.set(fault, (this.#counts.get(fault) ?? 0) + 1);
    if (this.#lines >= LINES_MAX) return;
    this.#lines++;
    this.#log.error({ fault, ...affected, err }, `internal fault: ${consequence}`);
  }

  #account(): void {
    if (this.#lines === LINES_MAX) {
      const faults = Object.fromEntries(this.#counts);
      this.#log.error({ faults }, "internal faults of the last minute");
    }
    this.#counts.clear();
    this.#lines = 0;
  }
}

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
function standardOutput(): DestinationStream {
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

/** Logs JSON lines. Tokens and secrets are removed here for all callers. */
export function createLogger(
  level: string,
  destination: DestinationStream = standardOutput(),
  base: Record<string, unknown> | null = null,
): Logger {
  const options = {
    level,
    base,
    timestamp: timeOfLine,
    redact: {
      paths: [...SECRET_PATHS, ...ROW_PATHS],
      censor: "[redacted]",
    },
  };
  return pino(options, destination);
}

const NAMES = ["authorization", "token", "secret", "signingSecret", "sealed_secret", "body"];
const SECRET_PATHS = NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** The members in which PostgreSQL quotes a refused row. */
const ROW_PATHS = ["err.detail", "err.where"];

/** Logs the warnings about settings that are unfit for production. */
export function warnOfExceptions(config: Config, log: Logger): void {
  for (const { message, facts = {} } of warningsOf(config)) log.warn(facts, message);
}

let second = NaN;
let textOfSecond = "";

/** Like pino's `isoTime`, which builds the whole text each time. That took a fortieth of an identity check's time. */
export function timeOfLine(): string {
  const now = systemClock().getTime();
  const ms = now % 1000;
  if (now - ms !== second) {
    second = now - ms;
    textOfSecond = new Date(second).toISOString().slice(0, -"000Z".length);
  }
  return `,"time":"${textOfSecond}${String(ms).padStart(3, "0")}Z"`;
}
