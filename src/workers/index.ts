export { joinParent, type Membership } from "./membership.ts";
export type { Answers } from "./messages.ts";
export { superviseWorkers, type Workers } from "./supervisor.ts";
