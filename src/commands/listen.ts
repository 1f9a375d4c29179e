import { type Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../domain/duration.ts";
import { ACCEPTED, type Behaviour } from "../receiver/behaviour.ts";
import type { CommandContext } from "./context.ts";

export interface ListenOptions {
  port: number;
  /** Where the certificates are kept; undefined: in the data folder. */
  folder: string | undefined;
  /** Any of them may have signed. None: nothing is verified. */
  secrets: string[];
  behaviour: Behaviour;
  json: boolean;
}

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

export function listenCommand(program: Command, context: CommandContext): void {
  program
    .command("listen")
    .description("receive deliveries on this machine, show them, and answer as told")
    .option("--port <n>", "of https://localhost; 0 is any free one", integer(0, 65_535), 9443)
    .option("--secret <whsec>", "verify with this signing secret; repeatable", append)
    .option("--status <n>", "answer with this status (default: 204)", integer(200, 599))
    .option("--delay <duration>", "keep the sender waiting first: 250ms, 12s, 1m", delay)
    .addOption(new Option("--drop", "end the connection instead of answering").conflicts("status"))
    .option(
      "--fail-first <n>",
      "do so to the first n attempts of each event (500 if not told what), then accept",
      integer(1, 1_000_000),
    )
    .option("--certificates <folder>", "where its own are kept (default: DATA_DIR/listen)")
    .addOption(new Option("--json", "print one JSON document a line"))
    .action((flags: Flags, command: Command) => {
      const { port, certificates: folder, secret: secrets = [], json = false } = flags;
      const behaviour = readBehaviour(flags);
      if (behaviour === null) command.error("error: --fail-first needs a --status that fails");
      return context.listen({ port, folder, secrets, behaviour, json });
    });
}

/** Null when it would fail attempts by accepting them. */
function readBehaviour({ drop, delay: delayMs = 0, failFirst, ...flags }: Flags): Behaviour | null {
  const isToFail = failFirst !== undefined && delayMs === 0;
  const status = flags.status ?? (isToFail ? 500 : ACCEPTED.status);
  if (isToFail && !drop && status < 300) return null;
  return { status: drop ? null : status, delayMs, attempts: failFirst ?? Infinity };
}

function append(value: string, before: string[] = []): string[] {
  if (/^whsec_\S+$/.test(value)) return [...before, value];
  throw new InvalidArgumentError("A signing secret starts with whsec_, and has no white space.");
}

function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
  };
}

function delay(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms <= DELAY_MAX_MS) return ms;
  throw new InvalidArgumentError("It must be a whole number and ms, s, m or h, up to 24h.");
}

const DELAY_MAX_MS = 86_400_000;
