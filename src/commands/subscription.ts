import type { Command } from "commander";
import { setCeiling } from "../actions/ceilings.ts";
import { pageOfSubscriptions } from "../actions/listings.ts";
import { deleteSubscription } from "../actions/subscriptions.ts";
import { viewOperatedSubscription } from "../actions/views/subscription.ts";
import { parseId } from "../domain/ids.ts";
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

export function subscriptionCommands(program: Command, context: CommandContext): void {
  const subscription = program
    .command("subscription")
    .description("partners' webhook subscriptions");

  subscription
    .command("list")
    .description("list subscriptions, newest first")
    .option("--organization <organization>", "only of this organization: id or slug")
    .option("--active <active>", "true: only active ones; false: only auto-disabled ones")
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .action(async (options: PageOptions & { organization?: string; active?: string }) => {
      const page = await context.withDependencies((deps) => pageOfSubscriptions(deps, options));
      printPage(context, options, page, {
        headings: ["ID", "CREATED", "AUTO-DISABLED", "FAILURES"],
        line: (item) => ({
          cells: [
            item.id,
            shortTime(item.created_at),
            shortTime(item.auto_disabled_at),
            String(item.consecutive_failures),
          ],
          note: `${item.organization_id}  ${item.url}`,
        }),
        empty: "No subscription matches.",
      });
    });

  subscription
    .command("set-ceiling <id> <n>")
    .description("limit the attempts for a subscription in a second; none: no limit")
    .addOption(jsonOption())
    .action(async (id: string, ceiling: string, options: JsonOption) => {
      const maxPerSecond = ceiling === "none" ? null : wholeNumber(ceiling);
      const changed = await context.withDependencies((deps) =>
        setCeiling(deps, parseId("wh", id), maxPerSecond),
      );
      print(context, options, viewOperatedSubscription(changed), ({ max_per_second: max }) =>
        max === null
          ? `Subscription ${id} has no ceiling.\n`
          : `Subscription ${id}: at most ${max} attempts per second.\n`,
      );
    });

  subscription
    .command("delete <id>")
    .description("delete a subscription and cancel its queued deliveries")
    .addOption(jsonOption())
    .action(async (id: string, options: JsonOption) => {
      await context.withDependencies((deps) => deleteSubscription(deps, null, parseId("wh", id)));
      print(context, options, {}, () => `Subscription ${id} is deleted.\n`);
    });
}
