import { noteUnread, whileRead } from "../commands/output.ts";
import { printableLines } from "../lib/printable.ts";
import { listenCommand } from "./command.ts";
import { listen } from "./listen.ts";

/** The program of the package `@partner-api/listen`: the command `listen`, without the service. */
export async function main(
  argv: string[],
  { version, env }: { version: string; env: Record<string, string | undefined> },
): Promise<void> {
  const stderr = (text: string) => process.stderr.write(printableLines(text));
  const environment = {
    dataDir: env["DATA_DIR"] ?? ".data",
    eventTypes: null,
    isTerminal: process.stdout.isTTY && !env["NO_COLOR"],
    stdout: (text: string) => process.stdout.write(text),
    stdin: process.stdin,
    remark: (message: string) => stderr(`${message}\n`),
  };
  process.stdout.on("error", noteUnread);
  try {
    await listenCommand((options) => whileRead((stop) => listen(options, environment, stop)))
      .name("partner-api-listen")
      .version(version)
      .parseAsync(argv, { from: "user" });
  } catch (error) {
    stderr(`error: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
