import type { Command } from "commander";
import type { CommandContext } from "../../commands/command.ts";
import { CommandError } from "../../commands/operator-api.ts";
import { type JsonOption, jsonOption, print } from "../../commands/output.ts";
import { reseal, type Resealed } from "./work.ts";

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
