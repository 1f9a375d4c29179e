import { CommanderError } from "commander";
import { PartnerError } from "../domain/errors.ts";
import { codeOf } from "../lib/code-of.ts";
import { isUnavailable } from "../postgres/database.ts";

/** An error with a one-line explanation. Ends the command. */
export class CommandError extends Error {}

/** The exit status of an invalid command line. A valid command that fails has 1. */
const USAGE = 2;

/** Prints the error to `stderr` and returns the exit status. */
export function explain(
  error: unknown,
  { stderr, showStack = false }: { stderr: (text: string) => void; showStack?: boolean },
): number {
  // Commander has printed it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;

  stderr(`error: ${describe(error)}\n`);
  if (error instanceof PartnerError) {
    for (const { pointer, detail } of error.faults) stderr(`  ${pointer.slice(1)}: ${detail}\n`);
  } else if (showStack && error instanceof Error) {
    stderr(`${error.stack ?? ""}\n`);
  }
  return 1;
}

function describe(error: unknown): string {
  if (error instanceof PartnerError || error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (isUnavailable(error)) return `the database is unavailable: ${error.message}`;
  return error.message === "" ? `${error.name} ${codeOf(error)}`.trim() : error.message;
}
