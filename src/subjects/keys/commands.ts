import type { Command } from "commander";
import type { CommandContext } from "../../commands/command.ts";
import { at, CommandError } from "../../commands/operator-api.ts";
import {
  cut,
  type JsonOption,
  jsonOption,
  type Line,
  listPage,
  pageOptions,
  type PageOptions,
  print,
  shortTime,
} from "../../commands/output.ts";
import { parseKeyId } from "./rules.ts";
import type { ApiKeyView, IssuedKeyView } from "./work.ts";

export function keyCommands(program: Command, context: CommandContext): void {
  const key = program.command("key").description("partners' API keys");
  createCommand(key, context);
  listCommand(key, context);
  revokeCommand(key, context);
}

function createCommand(key: Command, context: CommandContext): void {
  key
    .command("create")
    .description("create a key and print its token, which is shown only once")
    .requiredOption("--organization <organization>", "the key's organization: id or slug")
    .option("--scope <scope>", "a scope besides identity:read; repeatable", append)
    .option("--label <label>", "a name for operators")
    .addOption(jsonOption())
    .action(
      async (
        options: JsonOption & { organization: string; scope?: string[]; label?: string },
      ): Promise<void> => {
        const { organization, scope: scopes, label } = options;
        const issued = await context.withOperatorApi((api) =>
          api.post<IssuedKeyView>("/keys", { organization, scopes, label }),
        );
        print(context, options, issued, ({ token }) => `${token}\n`);
        if (options.json) return;
        context.stderr(
          `Token of key ${issued.key_id} (${issued.scopes.join(", ")}).\n` +
            "It is shown only once and cannot be recovered: store it with your secrets.\n",
        );
      },
    );
}

function append(value: string, before: string[] = []): string[] {
  return [...before, value];
}

function listCommand(key: Command, context: CommandContext): void {
  const list = key
    .command("list")
    .description("list keys without their tokens, newest first")
    .option("--organization <organization>", "only of this organization: id or slug")
    .option("--include-revoked", "include revoked keys");
  pageOptions(list).action(
    ({ includeRevoked: include_revoked, ...options }: PageOptions & { includeRevoked?: true }) =>
      listPage(
        context,
        "/keys",
        { ...options, ...(include_revoked && { include_revoked }) },
        () => ({
          headings: ["KEY ID", "CREATED", "LAST USED", "REVOKED", "LABEL"],
          line: keyLine,
          empty: "No key matches.",
        }),
      ),
  );
}

function keyLine(key: ApiKeyView): Line {
  return {
    cells: [
      key.key_id,
      shortTime(key.created_at),
      shortTime(key.last_used_at),
      shortTime(key.revoked_at),
      cut(key.label ?? "-", 39),
    ],
    note: cut(`${key.organization.slug}  ${key.scopes.join(" ")}`, 118),
  };
}

function revokeCommand(key: Command, context: CommandContext): void {
  key
    .command("revoke <key_id>")
    .description("revoke a key permanently, effective immediately")
    .addOption(jsonOption())
    .action(async (name: string, options: JsonOption) => {
      requireNoToken(name);
      await context.withOperatorApi((api) => api.delete(at`/keys/${name}`));
      print(context, options, {}, () => `Key ${parseKeyId(name) ?? name} is revoked.\n`);
    });
}

/** A command line is visible in shell histories and process lists, so it must not contain a token. */
function requireNoToken(name: string): void {
  const [id = "", secret] = name.split(".");
  if (secret === undefined) return;
  throw new CommandError(
    "this is a whole token. Give only the key id, the part before the dot" +
      (parseKeyId(id) === null ? "" : ` (${id})`) +
      ". Nothing was revoked, and the token is now in your shell's history",
  );
}
