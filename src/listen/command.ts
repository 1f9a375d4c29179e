import { Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../lib/duration.ts";
import { ACCEPTED, type Behaviour } from "./receiver.ts";

export interface ListenOptions {
  port: number;
  /** The folder of the certificates. Undefined: in the data folder. */
  folder: string | undefined;
  /** Each may have signed. If empty, nothing is verified. */
  secrets: string[];
  behaviour: Behaviour;
  /** Where to forward what `behaviour` accepts. Null: nowhere. */
  forwardTo: URL | null;
  /** The file to which deliveries are appended. Null: none. */
  record: string | null;
  /** The file whose deliveries are sent to `forwardTo` instead of listening. Null: none. */
  replay: string | null;
  json: boolean;
}

export function isSigningSecret(text: string): boolean {
  return /^whsec_[^\s,"'`]{1,200}$/.test(text);
}

interface Flags {
  port: number;
  secret?: string[];
  status?: number;
  delay?: number;
  drop?: boolean;
  failFirst?: number;
  certificates?: string;
  forwardTo?: URL;
  forwardAnywhere?: boolean;
  record?: string;
  replay?: string;
  json?: boolean;
}

/** The command `listen`, of the program and of the package `@partner-api/listen`. */
export function listenCommand(listen: (options: ListenOptions) => Promise<void>): Command {
  return new Command("listen")
    .description("receive and show deliveries on this machine")
    .option(
      "--port <n>",
      "the port on https://localhost; 0 for any free port",
      integer(0, 65_535),
      9443,
    )
    .option("--secret <whsec>", "verify with this signing secret; repeatable", append)
    .option("--status <n>", "respond with this status (default: 204)", integer(200, 599))
    .option("--delay <duration>", "wait before responding: 250ms, 12s, 1m", delay)
    .addOption(
      new Option("--drop", "close the connection instead of responding").conflicts("status"),
    )
    .option(
      "--fail-first <n>",
      "fail the first n attempts of each event by --status, --delay or --drop, then accept (default: status 500)",
      integer(1, 1_000_000),
    )
    .option("--certificates <folder>", "the folder of its certificates (default: DATA_DIR/listen)")
    .option("--forward-to <url>", "forward to a program and respond with its status", url)
    .option("--forward-anywhere", "allow a --forward-to on another machine")
    .option("--record <file>", "append each delivery to a file")
    .addOption(
      new Option(
        "--replay <file>",
        "send recorded deliveries to --forward-to and end; with --secret they are signed again",
      ).conflicts(["record", "status", "delay", "drop", "failFirst"]),
    )
    .addOption(new Option("--json", "print one JSON document per line"))
    .action((flags: Flags, command: Command) => {
      const { port, certificates: folder, secret: secrets = [], json = false } = flags;
      const { forwardTo = null, record = null, replay = null } = flags;
      const behaviour = readBehaviour(flags);
      if (behaviour === null) command.error("error: --fail-first needs a --status of 300 or more");
      if (replay !== null && forwardTo === null)
        command.error("error: --replay needs --forward-to");
      if (forwardTo !== null && !flags.forwardAnywhere && !isThisMachine(forwardTo)) {
        command.error("error: --forward-to another machine needs --forward-anywhere");
      }
      const forwarding = { forwardTo, record, replay };
      return listen({ port, folder, secrets, behaviour, ...forwarding, json });
    });
}

/** Returns null if --fail-first comes with a successful status. */
function readBehaviour({ drop, delay: delayMs = 0, failFirst, ...flags }: Flags): Behaviour | null {
  const fails = failFirst !== undefined && delayMs === 0;
  const status = flags.status ?? (fails ? 500 : ACCEPTED.status);
  if (fails && !drop && status < 300) return null;
  return { status: drop ? null : status, delayMs, attempts: failFirst ?? Infinity };
}

function append(value: string, before: string[] = []): string[] {
  if (isSigningSecret(value)) return [...before, value];
  throw new InvalidArgumentError(
    "A signing secret starts with whsec_ and contains no white space, comma or quote.",
  );
}

function url(text: string): URL {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  const isPlain = parsed !== null && parsed.username === "" && parsed.password === "";
  if (isPlain && /^https?:$/.test(parsed.protocol)) return parsed;
  throw new InvalidArgumentError("Must be an http or https URL without user information.");
}

function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Must be an integer from ${min} to ${max}.`);
  };
}

function delay(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms <= DELAY_MAX_MS) return ms;
  throw new InvalidArgumentError("Must be a whole number with ms, s, m or h, up to 24h.");
}

const DELAY_MAX_MS = 86_400_000;

/** Returns true if the host is this machine, without asking a name server. */
export function isThisMachine({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
