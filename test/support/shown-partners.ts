import type { Outcome } from "../../src/subjects/deliveries/rules.ts";
import type { EventType } from "../../src/subjects/event-types/rules.ts";

/** The platform's event types. */
export const TYPES = [
  "invoice.paid",
  "order.created",
  "order.shipped",
  "refund.issued",
  "stock.changed",
].map(typeOf);

/** Organizations, and the domains of their receivers. */
export const PARTNERS: Record<string, string> = {
  "acme-logistics": "acme-logistics.example",
  "blue-bottle-foods": "bluebottle.example",
  "cedar-health": "cedar.example",
  "fjord-travel": "fjord.example",
  "harbor-freight-eu": "harbor-freight.example",
  "lumen-energy": "lumen.example",
  northwind: "northwind-traders.example",
  "papaya-pay": "papaya.example",
  "tundra-outdoor": "tundra.example",
  "zephyr-air": "zephyr.example",
};

export const RECEIVERS = ["hooks", "erp", "warehouse", "billing", "crm", "search"];

/** The host whose subscription is disabled within the hour. */
export const DISABLED = "hooks.lumen.example";
export const SLOW = "warehouse.harbor-freight.example";

type Answered = [outcome: Outcome, ms: number];

const acknowledged: Outcome = { kind: "acknowledged", httpStatus: 200 };
const refused = (httpStatus: number): Outcome => ({ kind: "refused", httpStatus });
const timeout: Outcome = { kind: "unreachable", reason: "timeout" };
const closed: Outcome = { kind: "unreachable", reason: "connection_refused" };

/** The answer of the receivers in trouble in a minute of the hour. Null: that of the healthy ones. */
const TROUBLED: Record<string, (minute: number) => Answered | null> = {
  [DISABLED]: (minute) => (minute < 38 ? null : [refused(503), 31]),
  [SLOW]: () => [acknowledged, 900 + 2_600 * Math.random()],
  "crm.fjord.example": (minute) => (minute < 44 ? null : [closed, 4]),
  "erp.cedar.example": () => (Math.random() < 0.45 ? [refused(500), 420] : null),
  "billing.papaya.example": () => (Math.random() < 0.08 ? [refused(429), 12] : null),
  "search.tundra.example": () => [acknowledged, 600 + 700 * Math.random()],
  "erp.zephyr.example": (minute) => (minute < 58 ? null : [timeout, 10_000]),
};

export function answerOf(host: string, minute: number): Answered {
  const usualMs = 18 + 60 * Math.random() ** 3 + (Math.random() < 0.01 ? 400 : 0);
  return TROUBLED[host]?.(minute) ?? [acknowledged, usualMs];
}

function typeOf(name: string): EventType {
  const [thing = "", what = ""] = name.split(".");
  const summary = `The ${thing} was ${what}`;
  return { name, summary, schema: {}, example: { id: `${thing}-7` }, faultsOf: () => [] };
}
