import type { Command } from "commander";
import type { CommandContext } from "../../commands/command.ts";
import { at } from "../../commands/operator-api.ts";
import {
  type JsonOption,
  jsonOption,
  listPage,
  momentOf,
  pageOptions,
  type PageOptions,
  print,
  shortTime,
  SPAN_RULE,
} from "../../commands/output.ts";
import { systemClock } from "../../lib/clock.ts";
import { attemptCommand, cancelCommand, redeliverCommand } from "../redeliveries/commands.ts";
import type { DeliveriesPageView } from "../listings.ts";
import type { DeliveryQuery } from "./query.ts";
import { DELIVERY_STATES } from "./rules.ts";
import { deliveryHeadings, deliveryLine, showDelivery } from "./text.ts";
import { COUNTED_EXACTLY } from "./search-sql.ts";
import type { DeliveryDetail, DeliveryView } from "./work.ts";

export function deliveryCommands(program: Command, context: CommandContext): void {
  const delivery = program.command("delivery").description("deliveries of events to subscriptions");
  listCommand(delivery, context);
  showCommand(delivery, context);
  attemptCommand(delivery, context);
  cancelCommand(delivery, context);
  redeliverCommand(delivery, context);
}

function listCommand(delivery: Command, context: CommandContext): void {
  const list = delivery
    .command("list")
    .description("list deliveries, newest first")
    .option("--organization <organization>", "only of this organization: id or slug")
    .option("--subscription <id>", "only to this subscription")
    .option("--host <host>", "only to this receiver's host")
    .option("--event <event>", "only of this event (evt_…) or event type")
    .option("--state <state>", `only in this state: ${DELIVERY_STATES.join(", ")}`)
    .option("--reason <reason>", "only with this reason of the last failure, such as http_503")
    .option("--since <time>", `created at or after: ${SPAN_RULE}`)
    .option("--until <time>", "created before")
    .option("--count", "also count the matches in each state");
  pageOptions(list).action(({ since, until, ...rest }: PageOptions & DeliveryQuery) => {
    const now = (context.clock ?? systemClock)();
    const options = { ...rest, since: momentOf(since, now), until: momentOf(until, now) };
    return listPage(context, "/deliveries", options, (_items: DeliveryView[], page) => ({
      headings: deliveryHeadings,
      line: deliveryLine,
      empty: "No delivery matches.",
      before: countsLine(page as Partial<DeliveriesPageView>),
    }));
  });
}

/** A service of an older version answers without counts. */
function countsLine({ counts, searched_until: end }: Partial<DeliveriesPageView>): string {
  if (!counts) return "";
  const all = Object.entries(counts).map(([state, count]) => {
    const shown = count > COUNTED_EXACTLY ? `more than ${COUNTED_EXACTLY}` : String(count);
    return `${shown} ${state}`;
  });
  return `${all.join(", ")}${end ? `, searched until ${shortTime(end)} only` : ""}\n`;
}

function showCommand(delivery: Command, context: CommandContext): void {
  delivery
    .command("show <id>")
    .description("show a delivery with its attempts")
    .addOption(jsonOption())
    .action(async (id: string, options: JsonOption) => {
      const found = await context.withOperatorApi((api) =>
        api.get<DeliveryDetail>(at`/deliveries/${id}`),
      );
      print(context, options, found, (detail) => showDelivery(detail, context));
    });
}
