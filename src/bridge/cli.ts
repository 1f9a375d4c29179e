import { noteUnread, whileRead } from "../commands/output.ts";
import { askHereDirectly } from "../config/fleet.ts";
import { printableLines } from "../lib/printable.ts";
import { saveMemory, tuneCollector } from "../observe/collector.ts";
import { bridgeCommand } from "./command.ts";
import { bridge } from "./main.ts";

/** The program of the package `@partner-api/bridge`: the command `bridge`, without the service. */
export async function main(
  argv: string[],
  { version, env }: { version: string; env: Record<string, string | undefined> },
): Promise<void> {
  const userAgent = `Partner-API-Bridge/${version}`;
  const environment = {
    env,
    version,
    userAgent,
    stdout: (text: string) => process.stdout.write(text),
  };
  process.stdout.on("error", noteUnread);
  askHereDirectly(env);
  try {
    await bridgeCommand((options) => runBridge(options, environment))
      .name("partner-api-bridge")
      .version(version)
      .parseAsync(argv, { from: "user" });
  } catch (error) {
    process.stderr.write(printableLines(`error: ${(error as Error).message}\n`));
    process.exit(1);
  }
}

/** Runs the bridge until a signal. */
export async function runBridge(...[options, environment]: RunArguments): Promise<boolean> {
  tuneCollector();
  saveMemory();
  const results: boolean[] = [];
  await whileRead(async (stop) => {
    results.push(await bridge(options, environment, stop));
  });
  if (results.includes(false)) return false;
  process.exit(0); // A client of a broker may leave a connection open that nobody needs.
}

type RunArguments = [
  ...Parameters<Parameters<typeof bridgeCommand>[0]>,
  Parameters<typeof bridge>[1],
];
