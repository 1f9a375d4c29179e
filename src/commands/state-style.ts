import type { DeliveryState } from "../domain/delivery.ts";
import type { ProcessState } from "../domain/process.ts";
import type { Style } from "./paint.ts";

/** How states look on a terminal. */
export const DELIVERY_STYLES = {
  waiting: "dim",
  delivered: "green",
  dead_lettered: "red",
  cancelled: "yellow",
} as const satisfies Record<DeliveryState, Style>;

export const PROCESS_STYLES = {
  running: "green",
  stopping: "yellow",
  gone: "red",
} as const satisfies Record<ProcessState, Style>;

export const SUBSCRIPTION_STYLES = { active: "green", disabled: "red" } as const;
