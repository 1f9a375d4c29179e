import type { Command } from "commander";
import type { CommandContext } from "../../commands/command.ts";
import { at } from "../../commands/operator-api.ts";
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
  SUBSCRIPTION_STYLES,
  wholeNumber,
} from "../../commands/output.ts";
import { SUBSCRIPTION_ORDERS } from "./rules.ts";
import type { OperatedSubscriptionView } from "./work.ts";

const subscriptionHeadings = ["ID", "CREATED", "STATE", "AUTO-DISABLED", "FAILURES"];
const STATE_COLUMN = subscriptionHeadings.indexOf("STATE");

function subscriptionLine(item: OperatedSubscriptionView): Line {
  const state = item.active ? "active" : "disabled";
  return {
    cells: [
      item.id,
      shortTime(item.created_at),
      state,
      shortTime(item.auto_disabled_at),
      String(item.consecutive_failures),
    ],
    note: `${cut(item.organization.slug, 30)}  ${cut(item.url, 84)}`,
    styles: { [STATE_COLUMN]: SUBSCRIPTION_STYLES[state] },
  };
}

export function subscriptionCommands(program: Command, context: CommandContext): void {
  const subscription = program
    .command("subscription")
    .description("partners' webhook subscriptions");

  const list = subscription
    .command("list")
    .description("list subscriptions, newest first")
    .option("--organization <organization>", "only of this organization: id or slug")
    .option("--active <active>", "true: only active ones; false: only auto-disabled ones")
    .option("--order <order>", `${SUBSCRIPTION_ORDERS.join(" or ")} first`);
  pageOptions(list).action((options: PageOptions) =>
    listPage(context, "/subscriptions", options, () => ({
      headings: subscriptionHeadings,
      line: subscriptionLine,
      empty: "No subscription matches.",
    })),
  );

  subscription
    .command("set-ceiling <id> <n>")
    .description("limit a subscription's attempts per second; the word none removes the limit")
    .addOption(jsonOption())
    .action(async (id: string, ceiling: string, options: JsonOption) => {
      const body = { max_per_second: ceiling === "none" ? null : wholeNumber(ceiling) };
      const changed = await context.withOperatorApi((api) =>
        api.patch<OperatedSubscriptionView>(at`/subscriptions/${id}`, body),
      );
      print(context, options, changed, ({ max_per_second: max }) =>
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
      await context.withOperatorApi((api) => api.delete(at`/subscriptions/${id}`));
      print(context, options, {}, () => `Subscription ${id} is deleted.\n`);
    });
}
