import type { Command } from "commander";
import { reseal, type Resealed } from "../actions/reseal.ts";
import { depsOf, type Shards } from "../actions/shards.ts";
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
      const done = await context.withShards(resealAll);
      print(context, options, done, sentence);
      if (done.unreadable > 0) throw new CommandError(complaint(done));
    });
}

async function resealAll({ home, others }: Shards): Promise<Resealed> {
  let all = await reseal(depsOf(home));
  for (const shard of others) all = sum(all, await reseal(depsOf(shard)));
  return all;
}

function sum(one: Resealed, other: Resealed): Resealed {
  return {
    sealing_key: one.sealing_key,
    resealed: one.resealed + other.resealed,
    unchanged: one.unchanged + other.unchanged,
    unreadable: one.unreadable + other.unreadable,
    unreadable_subscriptions: [...one.unreadable_subscriptions, ...other.unreadable_subscriptions],
  };
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
