import type { Command } from "commander";
import type { CommandContext, Moved } from "./context.ts";
import { jsonOption, type JsonOption, print } from "./output.ts";

export function shardCommands(program: Command, context: CommandContext): void {
  const shard = program.command("shard").description("move shards");
  shard
    .command("move")
    .description("move a shard to an empty schema of another server; the service may be running")
    .argument("<name>", "the shard's name")
    .requiredOption(
      "--to <postgres-url>",
      "the URL of the empty schema, with the role that will own it",
    )
    .addOption(jsonOption())
    .action(async (name: string, { to, ...options }: JsonOption & { to: string }) => {
      print(context, options, await context.moveShard(name, to), sentence);
    });
}

function sentence({ shard, to, tables, rows, waited_ms }: Moved): string {
  return (
    `Shard ${shard} is at ${to}: ${tables} tables, ${rows} rows, counts and checksums are equal. ` +
    `Writers waited ${waited_ms} ms.\n` +
    "Give every process the new URL and restart it. Until then it answers 503 for this shard.\n"
  );
}
