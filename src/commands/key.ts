import type { Command } from "commander";
import { createApiKey, revokeApiKey } from "../actions/api-keys.ts";
import { pageOfApiKeys } from "../actions/listings.ts";
import { viewIssuedKey } from "../actions/views/api-key.ts";
import { parseKeyId } from "../domain/api-key.ts";
import {
  answer,
  answerPage,
  cursorOption,
  type JsonOption,
  jsonOption,
  limitOption,
  type PageOptions,
} from "./answer.ts";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./errors.ts";
import { shortTime } from "./table.ts";

export function keyCommands(program: Command, context: CommandContext): void {
  const key = program.command("key").description("API keys: what partners sign in with");
  createCommand(key, context);
  listCommand(key, context);
  revokeCommand(key, context);
}

function createCommand(key: Command, context: CommandContext): void {
  key
    .command("create")
    .description("make a key and print its token, this once")
    .requiredOption("--organization <organization>", "whose key it is: id or slug")
    .option("--scope <scope>", "what it may do besides identity:read; repeatable", append)
    .option("--label <label>", "what operators call it")
    .addOption(jsonOption())
    .action(
      async (
        options: JsonOption & { organization: string; scope?: string[]; label?: string },
      ): Promise<void> => {
        const { organization, scope: scopes, label } = options;
        const issued = await context.withDependencies((deps) =>
          createApiKey(deps, { organization, scopes, label }),
        );
        answer(context, options, viewIssuedKey(issued), ({ token }) => `${token}\n`);
        if (options.json) return;
        context.stderr(
          `This is the token of key ${issued.keyId} (${issued.scopes.join(", ")}).\n` +
            "It is shown this once and cannot be recovered: keep it where secrets are kept.\n",
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
    .description("list keys, newest first; never a token")
    .option("--organization <organization>", "only this one's: id or slug")
    .option("--include-revoked", "revoked keys too")
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .action(async (options: PageOptions & { organization?: string; includeRevoked?: true }) => {
      const include_revoked = options.includeRevoked ? "true" : "false";
      const page = await context.withDependencies((deps) =>
        pageOfApiKeys(deps, { ...options, include_revoked }),
      );
      answerPage(context, options, page, {
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
    .description("revoke a key for good, from its next request on")
    .addOption(jsonOption())
    .action(async (name: string, options: JsonOption) => {
      requireNoToken(name);
      const keyId = await context.withDependencies((deps) => revokeApiKey(deps, name));
      answer(context, options, {}, () => `Key ${keyId} is revoked.\n`);
    });
}

/** Nobody should get used to pasting secrets: a command line lands in histories and process lists. */
function requireNoToken(name: string): void {
  const [id = "", secret] = name.split(".");
  if (secret === undefined) return;
  throw new CommandError(
    "this is a whole token: give the key id alone, the part before the dot" +
      (parseKeyId(id) === null ? "" : ` (${id})`) +
      ". Nothing was revoked, and the token is in your shell's history now",
  );
}
