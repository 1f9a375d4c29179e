import type { Command } from "commander";
import { reseal, type Resealed } from "../actions/reseal.ts";
import { print, type JsonOption, jsonOption } from "./output.ts";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./errors.ts";

export function resealCommand(program: Command, context: CommandContext): void {
  program
    .command("reseal")
    .description(
      "reseal signing secrets and kept responses under the first of SEALING_KEYS; the service may be running",
    )
    .addOption(jsonOption())
    .action(async (options: JsonOption) => {
      const done = await context.withDatabase(reseal);
      print(context, options, done, sentence);
      if (done.unreadable > 0) throw new CommandError(complaint(done));
    });
}

function complaint({ unreadable, unreadable_subscriptions: named }: Resealed): string {
  const others = unreadable - named.length;
  return (
    `no key of the ring opens the secrets of ${named.join(", ")}${others > 0 ? ` and ${others} more` : ""}: ` +
    "add the key that sealed them to SEALING_KEYS"
  );
}

function sentence({ sealing_key, resealed, unchanged }: Resealed): string {
  return (
    `${count(resealed)} resealed under key ${sealing_key}; ` +
    `${count(unchanged)} already had that key.\n`
  );
}

function count(secrets: number): string {
  return secrets === 1 ? "1 secret" : `${secrets} secrets`;
}
