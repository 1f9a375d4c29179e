import type { Command } from "commander";
import { createApiKey, revokeApiKey } from "../actions/api-keys.ts";
import { pageOfApiKeys } from "../actions/listings.ts";
import { viewIssuedKey } from "../actions/views/api-key.ts";
import { parseKeyId } from "../domain/api-key.ts";
import {
  print,
  printPage,
  cursorOption,
  type JsonOption,
  jsonOption,
  limitOption,
  type PageOptions,
} from "./output.ts";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./errors.ts";
import { shortTime } from "./table.ts";

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
        const issued = await context.withDependencies((deps) =>
          createApiKey(deps, { organization, scopes, label }),
        );
        print(context, options, viewIssuedKey(issued), ({ token }) => `${token}\n`);
        if (options.json) return;
        context.stderr(
          `Token of key ${issued.keyId} (${issued.scopes.join(", ")}).\n` +
            "It is shown only once and cannot be recovered: store it with your secrets.\n",
        );
      },
    );
}

function append(value: string, before: string[] = []): string[] {
  return [...before, value];
}

function listCommand(key: Command, context: CommandContext): void {
  key
    .command("list")
    .description("list keys without their tokens, newest first")
    .option("--organization <organization>", "only of this organization: id or slug")
    .option("--include-revoked", "include revoked keys")
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .action(async (options: PageOptions & { organization?: string; includeRevoked?: true }) => {
      const include_revoked = options.includeRevoked ? "true" : "false";
      const page = await context.withDependencies((deps) =>
        pageOfApiKeys(deps, { ...options, include_revoked }),
      );
      printPage(context, options, page, {
        headings: ["KEY ID", "CREATED", "LAST USED", "REVOKED", "LABEL"],
        line: (item) => ({
          cells: [
            item.key_id,
            shortTime(item.created_at),
            shortTime(item.last_used_at),
            shortTime(item.revoked_at),
            item.label ?? "-",
          ],
          note: `${item.organization_id}  ${item.scopes.join(" ")}`,
        }),
        empty: "No key matches.",
      });
    });
}

function revokeCommand(key: Command, context: CommandContext): void {
  key
    .command("revoke <key_id>")
    .description("revoke a key permanently, effective immediately")
    .addOption(jsonOption())
    .action(async (name: string, options: JsonOption) => {
      requireNoToken(name);
      const keyId = await context.withDependencies((deps) => revokeApiKey(deps, name));
      print(context, options, {}, () => `Key ${keyId} is revoked.\n`);
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
