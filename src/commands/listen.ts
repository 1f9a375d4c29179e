import { Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../domain/duration.ts";
import { ACCEPTED, type Behaviour } from "../receiver/behaviour.ts";
import type { ListenOptions } from "./listen-options.ts";

interface Flags {
  port: number;
  secret?: string[];
  status?: number;
  delay?: number;
  drop?: boolean;
  failFirst?: number;
  certificates?: string;
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
      "fail the first n attempts of each event in this way (default: status 500), then accept",
      integer(1, 1_000_000),
    )
    .option("--certificates <folder>", "the folder of its certificates (default: DATA_DIR/listen)")
    .addOption(new Option("--json", "print one JSON document per line"))
    .action((flags: Flags, command: Command) => {
      const { port, certificates: folder, secret: secrets = [], json = false } = flags;
      const behaviour = readBehaviour(flags);
      if (behaviour === null) command.error("error: --fail-first needs a --status of 300 or more");
      return listen({ port, folder, secrets, behaviour, json });
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
  if (/^whsec_\S+$/.test(value)) return [...before, value];
  throw new InvalidArgumentError(
    "A signing secret starts with whsec_ and contains no white space.",
  );
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
