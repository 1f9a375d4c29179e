import { painter, type Style } from "./commands/paint.ts";
import { printable } from "./commands/printable.ts";
import { wrap } from "./commands/wrap.ts";
import type { Config } from "./config.ts";
import { checksBesideDatabase } from "./doctor/beside-database.ts";
import type { Check } from "./doctor/check.ts";
import { checksInDatabase } from "./doctor/in-database.ts";
import { openDatabase } from "./wiring/database.ts";
import { warningsOf } from "./wiring/warnings.ts";

const STYLES = {
  ok: "green",
  note: "dim",
  warn: "yellow",
  FAULT: "red",
} as const satisfies Record<string, Style>;

/** Under the details. */
const INDENT = " ".repeat(23);

/** Checks the installation and writes one line for each check. Returns false if one failed. */
export async function doctor(
  config: Config,
  { write, isTerminal }: { write: (text: string) => void; isTerminal: boolean },
): Promise<boolean> {
  const paint = painter({ isTerminal });
  line("ok", "configuration", describe(config));
  for (const { message } of warningsOf(config)) line("warn", "configuration", message);
  let passed = true;
  for (const check of checksBesideDatabase(config)) passed = (await report(check)) && passed;
  try {
    const { db, close } = await openDatabase(config, note, { max: 2 });
    for (const check of checksInDatabase(config, db)) passed = (await report(check)) && passed;
    await close();
    return passed;
  } catch (error) {
    line("FAULT", "database", (error as Error).message);
    return false;
  }

  async function report([what, check]: Check): Promise<boolean> {
    try {
      const found = await check();
      if (typeof found === "string") line("ok", what, found);
      else line("warn", what, found.doubt);
      return true;
    } catch (error) {
      line("FAULT", what, (error as Error).message);
      return false;
    }
  }

  function note(message: string): void {
    line("note", "database", message);
  }

  function line(verdict: keyof typeof STYLES, what: string, detail: string): void {
    const word = verdict.padEnd(6);
    const shown = paint(STYLES[verdict], word);
    const text = `${shown} ${what.padEnd(15)} ${printable(detail)}`;
    write(isTerminal ? wrap(text, INDENT, shown.length - word.length) : `${text}\n`);
  }
}

function describe({ role, retryDelaysMs }: Config): string {
  return `role ${role}, ${retryDelaysMs.length + 1} attempts`;
}
