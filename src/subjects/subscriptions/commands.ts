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
  const state = stateOf(item);
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

/** An older service answers without `held_at`. */
function stateOf({ active, held_at }: Partial<OperatedSubscriptionView>) {
  if (!active) return "disabled";
  return held_at ? "held" : "active";
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
      const changed = await patch(context, id, { max_per_second: readCeiling(ceiling) });
      print(context, options, changed, ({ max_per_second: max }) =>
        max === null
          ? `Subscription ${id} has no ceiling.\n`
          : `Subscription ${id}: at most ${max} attempts per second.\n`,
      );
    });

  subscription
    .command("hold <id>")
    .description("stop a subscription's attempts and keep everything, until it is released")
    .addOption(jsonOption())
    .action(async (id: string, options: JsonOption) => {
      const held = await patch(context, id, { held: true });
      print(
        context,
        options,
        held,
        ({ release_by: by }) =>
          `Subscription ${id} is held. Release it by ${shortTime(by)}: later its deliveries are older than RETENTION.\n`,
      );
    });

  subscription
    .command("release <id>")
    .description("let a held subscription's attempts go on, at its ceiling if it has one")
    .option("--ceiling <n>", "set this ceiling, or none, with the release", readCeiling)
    .addOption(jsonOption())
    .action(async (id: string, options: JsonOption & { ceiling?: number | null }) => {
      const released = await patch(context, id, { held: false, max_per_second: options.ceiling });
      print(context, options, released, ({ max_per_second: max }) =>
        max === null
          ? `Subscription ${id} is released.\n`
          : `Subscription ${id} is released, at most ${max} attempts per second.\n`,
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

/** Returns null for "none". */
function readCeiling(text: string): number | null {
  return text === "none" ? null : wholeNumber(text);
}

async function patch(
  context: CommandContext,
  id: string,
  change: { max_per_second?: number | null | undefined; held?: boolean },
): Promise<OperatedSubscriptionView> {
  return context.withOperatorApi((api) => api.patch(at`/subscriptions/${id}`, change));
}
