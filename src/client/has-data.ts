import { isObject, type Operation } from "./problem.ts";

/** Returns true if `data` has a member that only this call's response has. */
export function hasData(operation: Operation, data: unknown): boolean {
  return TESTS[operation](data);
}

const TESTS: Record<Operation, (data: unknown) => boolean> = {
  getIdentity: has("key_id"),
  createSubscription: has("secret"),
  listSubscriptions: Array.isArray,
  deleteSubscription: (data) => data === undefined,
  sendTestEvent: has("event_id"),
  listFailures: (data) => isObject(data) && "items" in data && Array.isArray(data.items),
};

function has(member: string) {
  return (data: unknown): boolean => isObject(data) && member in data;
}
