import { call, pathOf } from "./call.ts";
import type { Finds } from "./shapes.ts";

/** Finds a thing by its id, or by the beginning of its slug, event type or host. */
export function find(text: string, signal?: AbortSignal): Promise<Finds> {
  return call("GET", pathOf("find", { q: text }), undefined, signal);
}
