import { after } from "../../lib/clock.ts";
import type { NodeId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import { isOwnType, NOTICE_TYPES } from "./rules.ts";
import {
  deleteNodes,
  listEventTypeNames,
  listSubscribedBeside,
  lockEventTypes,
  recordNode,
  recordNodeEnded,
  updateEventTypes,
} from "./sql.ts";

/** After this time without a sign, a node counts as ended, and types that no other node announced are retired. */
export const NODE_UNSEEN_MS = 5 * 60_000;

type Announcing = Pick<Dependencies, "db" | "clock" | "eventTypes">;

/**
 * Records that this node knows its types, and retires types that no node knows any more. Nodes with different folders do
 * not retire each other's types.
 */
export async function announceEventTypes(
  { db, clock, eventTypes }: Announcing,
  nodeId: NodeId,
): Promise<void> {
  const now = clock();
  await db.begin(async (tx) => {
    await lockEventTypes(tx);
    const names = eventTypes.names.filter((name) => !isOwnType(name));
    await recordNode(tx, { id: nodeId, names }, now);
    await deleteNodes(tx, { except: nodeId, unseenSince: after(now, -NODE_UNSEEN_MS) });
    await updateEventTypes(tx, now);
  });
}

/** Records that this node has ended. Its types stay known until another node announces its own. */
export async function withdrawNode(
  { db, clock }: Pick<Announcing, "db" | "clock">,
  nodeId: NodeId,
): Promise<void> {
  await recordNodeEnded(db, nodeId, clock());
}

/** Returns the types that active subscriptions list and this node does not know, ordered by name. */
export async function listUnknownSubscribed({
  db,
  eventTypes,
}: Pick<Announcing, "db" | "eventTypes">): Promise<string[]> {
  return listSubscribedBeside(db, [...eventTypes.names, ...NOTICE_TYPES]);
}

/** Returns the types of this node, all types that were ever announced, and those of notices if there are any. */
export async function listEverKnown({
  db,
  eventTypes,
  platformOrganization,
}: Pick<Dependencies, "db" | "eventTypes" | "platformOrganization">): Promise<string[]> {
  const notices = platformOrganization ? NOTICE_TYPES : [];
  return [...new Set([...eventTypes.names, ...notices, ...(await listEventTypeNames(db))])];
}
