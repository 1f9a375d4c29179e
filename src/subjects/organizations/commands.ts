import type { Command } from "commander";
import type { CommandContext } from "../../commands/command.ts";
import { at } from "../../commands/operator-api.ts";
import {
  fitted,
  type JsonOption,
  jsonOption,
  listPage,
  pageOptions,
  type PageOptions,
  print,
  shortTime,
  wholeNumber,
} from "../../commands/output.ts";
import { RATE_LIMIT_DEFAULT } from "./rules.ts";
import type { OrganizationView } from "./work.ts";

/** `cell`: its own, as a gateway reports it. */
type Placed = OrganizationView & { cell?: string };

export function orgCommands(program: Command, context: CommandContext): void {
  const org = program.command("org").description("partners' organizations");

  org
    .command("create <slug>")
    .description("create an organization")
    .option("--rate-limit <n>", `requests per minute (default: ${RATE_LIMIT_DEFAULT})`, wholeNumber)
    .option(
      "--cell <name>",
      "with a gateway: the cell that holds it permanently (default: the one with the fewest organizations)",
    )
    .addOption(jsonOption())
    .action(async (slug: string, options: JsonOption & { rateLimit?: number; cell?: string }) => {
      const body = { slug, rate_limit_per_minute: options.rateLimit, cell: options.cell };
      const made = await context.withOperatorApi((api) => api.post<Placed>("/organizations", body));
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

function shapeOf(organizations: Placed[]) {
  const isPlaced = organizations.some(({ cell }) => cell !== undefined);
  const ifPlaced = (text: string) => (isPlaced ? [text] : []);
  return {
    headings: ["ID", ...ifPlaced("CELL"), "PER MINUTE", "CREATED", "SLUG"],
    line: ({ id, slug, rate_limit_per_minute: limit, created_at, cell = "" }: Placed) => {
      const { cell: shown, ...below } = fitted(slug, 40);
      const cells = [id, ...ifPlaced(cell), String(limit), shortTime(created_at), shown];
      return { cells, ...below };
    },
    empty: "There are no organizations yet.",
  };
}

function sentence({ slug, id, rate_limit_per_minute: limit, cell }: Placed): string {
  const place = cell === undefined ? "" : `, cell ${cell}`;
  return `Organization ${slug} (${id}${place}): ${limit} requests per minute.\n`;
}
