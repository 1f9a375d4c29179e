import type { Command } from "commander";
import { CompleteCommand } from "../commands/complete-command.ts";

export interface BridgeOptions {
  /** A YAML or JSON file. */
  config: string;
  /** Tells what would happen, and publishes nothing. */
  check: boolean;
}

/** The command `bridge`, of the program and of the package `@partner-api/bridge`. */
export function bridgeCommand(bridge: (options: BridgeOptions) => Promise<boolean>): Command {
  return new CompleteCommand("bridge")
    .description("publish events from an outbox table or a message broker")
    .requiredOption("--config <file>", "the sources, in YAML or JSON")
    .option("--check", "tell of each source whether it is reached, and show its first event", false)
    .action(async (options: BridgeOptions) => {
      if (await bridge(options)) return;
      throw new Error(options.check ? "some checks failed" : "the bridge did not stop in time");
    });
}
