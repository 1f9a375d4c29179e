import type { Command } from "commander";
import { pageOfOrganizations } from "../actions/listings.ts";
import { createOrganization, setRateLimit } from "../actions/organizations.ts";
import { type OrganizationView, viewOrganization } from "../actions/views/organization.ts";
import { RATE_LIMIT_DEFAULT } from "../domain/organization.ts";
import {
  print,
  printPage,
  cursorOption,
  type JsonOption,
  jsonOption,
  limitOption,
  type PageOptions,
  wholeNumber,
} from "./output.ts";
import type { CommandContext } from "./context.ts";
import { shortTime } from "./table.ts";

export function orgCommands(program: Command, context: CommandContext): void {
  const org = program.command("org").description("partners' organizations");

  org
    .command("create <slug>")
    .description("create an organization")
    .option("--rate-limit <n>", `requests per minute (default: ${RATE_LIMIT_DEFAULT})`, wholeNumber)
    .addOption(jsonOption())
    .action(async (slug: string, options: JsonOption & { rateLimit?: number }) => {
      const { rateLimit: rateLimitPerMinute } = options;
      const made = await context.withDependencies((deps) =>
        createOrganization(deps, { slug, rateLimitPerMinute }),
      );
      print(context, options, viewOrganization(made), sentence);
    });

  org
    .command("list")
    .description("list organizations, ordered by slug")
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .action(async (options: PageOptions) => {
      const page = await context.withDependencies((deps) => pageOfOrganizations(deps, options));
      printPage(context, options, page, {
        headings: ["ID", "PER MINUTE", "CREATED", "SLUG"],
        line: ({ id, slug, rate_limit_per_minute: limit, created_at }) => ({
          cells: [id, String(limit), shortTime(created_at), slug],
        }),
        empty: "There are no organizations yet.",
      });
    });

  org
    .command("set-limit <organization> <n>")
    .description("change the rate limit of an organization (id or slug)")
    .addOption(jsonOption())
    .action(async (name: string, limit: string, options: JsonOption) => {
      const changed = await context.withDependencies((deps) =>
        setRateLimit(deps, name, wholeNumber(limit)),
      );
      print(context, options, viewOrganization(changed), sentence);
    });
}

function sentence({ slug, id, rate_limit_per_minute: limit }: OrganizationView): string {
  return `Organization ${slug} (${id}): ${limit} requests per minute.\n`;
}
