import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "./root.ts";

const PROGRAMS =
  /^(partner-api|pgbackrest|pg_dump|pg_restore|promtool|haproxy|deploy\/|\.\/|docker|helm|kubectl|useradd|install|cp|systemctl|cd|patronictl|npm|psql|createdb)\b/;

export function guideText(): Promise<string> {
  return readFile(join(ROOT, "docs/operations.md"), "utf8");
}

/** The commands of docs/operations.md: indented lines that begin with a program. */
export async function guideCommands(): Promise<string[]> {
  return (await guideText())
    .split("\n")
    .filter((line) => /^ {4}/.test(line))
    .map((line) => line.trim().replace(/ {3,}.*$/, "")) // Text after a wide space is an explanation.
    .filter((line) => PROGRAMS.test(line));
}

/** The one command of the guide that matches. */
export async function guideCommand(pattern: RegExp): Promise<string> {
  const found = (await guideCommands()).filter((line) => pattern.test(line));
  const [command] = found;
  if (found.length !== 1 || command === undefined) {
    throw new Error(
      `docs/operations.md has ${found.length} commands that match ${String(pattern)}`,
    );
  }
  return command;
}
