import type { Command } from "commander";
import type { OrganizationView } from "../actions/views/organization.ts";
import { RATE_LIMIT_DEFAULT } from "../domain/organization.ts";
import { at } from "./operator-api.ts";
import {
  type JsonOption,
  jsonOption,
  listPage,
  pageOptions,
  type PageOptions,
  print,
  wholeNumber,
} from "./output.ts";
import type { CommandContext } from "./context.ts";
import { fitted, shortTime } from "./table.ts";

export function orgCommands(program: Command, context: CommandContext): void {
  const org = program.command("org").description("partners' organizations");

  org
    .command("create <slug>")
    .description("create an organization")
    .option("--rate-limit <n>", `requests per minute (default: ${RATE_LIMIT_DEFAULT})`, wholeNumber)
    .option(
      "--shard <name>",
      "the shard that holds it permanently (default: the one with the fewest organizations)",
    )
    .addOption(jsonOption())
    .action(async (slug: string, options: JsonOption & { rateLimit?: number; shard?: string }) => {
      const body = { slug, rate_limit_per_minute: options.rateLimit, shard: options.shard };
      const made = await context.withOperatorApi((api) =>
        api.post<OrganizationView>("/organizations", body),
      );
      print(context, options, made, sentence);
    });

  pageOptions(org.command("list").description("list organizations, ordered by slug")).action(
    (options: PageOptions) => listPage(context, "/organizations", options, shapeOf),
  );

  org
    .command("set-limit <organization> <n>")
    .description("change the rate limit of an organization (id or slug)")
    .addOption(jsonOption())
    .action(async (name: string, limit: string, options: JsonOption) => {
      const body = { rate_limit_per_minute: wholeNumber(limit) };
      const changed = await context.withOperatorApi((api) =>
        api.patch<OrganizationView>(at`/organizations/${name}`, body),
      );
      print(context, options, changed, sentence);
    });

  org
    .command("close <organization>")
    .description(
      "close an organization (id or slug) permanently: revoke its keys, delete its subscriptions, cancel its queues",
    )
    .addOption(jsonOption())
    .action(async (name: string, options: JsonOption) => {
      await context.withOperatorApi((api) => api.delete(at`/organizations/${name}`));
      print(context, options, {}, () => `Organization ${name} is closed.\n`);
    });
}

function shapeOf(organizations: OrganizationView[]) {
  const isSharded = organizations.some(({ shard }) => shard !== undefined);
  const ifSharded = (cell: string) => (isSharded ? [cell] : []);
  return {
    headings: ["ID", ...ifSharded("SHARD"), "PER MINUTE", "CREATED", "SLUG"],
    line: ({
      id,
      slug,
      rate_limit_per_minute: limit,
      created_at,
      shard = "",
    }: OrganizationView) => {
      const { cell, ...below } = fitted(slug, 40);
      const cells = [id, ...ifSharded(shard), String(limit), shortTime(created_at), cell];
      return { cells, ...below };
    },
    empty: "There are no organizations yet.",
  };
}

function sentence({ slug, id, rate_limit_per_minute: limit, shard }: OrganizationView): string {
  const place = shard === undefined ? "" : `, shard ${shard}`;
  return `Organization ${slug} (${id}${place}): ${limit} requests per minute.\n`;
}
