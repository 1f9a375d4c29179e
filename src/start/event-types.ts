import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { loadEventTypes } from "../event-types/load.ts";
import { type NodeId, randomId } from "../lib/ids.ts";
import { repeat } from "../lib/parts.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import { createEventTypes, type EventTypes } from "../subjects/event-types/rules.ts";
import {
  announceEventTypes,
  listUnknownSubscribed,
  withdrawNode,
} from "../subjects/event-types/work.ts";

const ANNOUNCE_MS = 60_000;

/** Returns the service's own types and those of the configured folder. Throws one error that names all its faults. */
export async function openEventTypes({
  eventTypes: folder,
  eventTypesAnnotations: annotations,
}: Pick<Config, "eventTypes" | "eventTypesAnnotations">): Promise<EventTypes> {
  return createEventTypes(folder === null ? [] : await loadEventTypes(folder, annotations));
}

/** Announces this process's types at intervals. Warns of types that only subscriptions know. */
export async function startAnnouncing(
  deps: Dependencies,
  log: Logger,
  onError: (error: unknown) => void,
): Promise<{ stop(): Promise<void> }> {
  const nodeId: NodeId = randomId();
  await announceEventTypes(deps, nodeId);
  const unknown = await listUnknownSubscribed(deps);
  if (unknown.length > 0) {
    log.warn(
      { event_types: unknown },
      "some subscriptions list event types without a file, which cannot be published",
    );
  }
  const end = repeat(ANNOUNCE_MS, () => announceEventTypes(deps, nodeId), onError);
  return {
    stop: async () => {
      await end();
      await withdrawNode(deps, nodeId).catch(onError);
    },
  };
}
