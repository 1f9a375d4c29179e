import { after } from "../domain/clock.ts";
import {
  deleteNodes,
  listEventTypeNames,
  listSubscribedBeside,
  lockEventTypes,
  recordNode,
  recordNodeEnded,
  updateEventTypes,
} from "../postgres/event-types.ts";
import { NOTICE_TYPES } from "../domain/notices.ts";
import { isOwnType } from "../domain/event-types.ts";
import type { Dependencies } from "./dependencies.ts";

/** A node that was not seen for so long has ended, and what it alone announced is retired. */
export const NODE_UNSEEN_MS = 5 * 60_000;

type Announcing = Pick<Dependencies, "db" | "clock" | "eventTypes">;

/**
 * Writes down that this node knows its types. A type that no node knows any more is retired. Nodes with different folders
 * leave each other's types alone.
 */
export async function announceEventTypes(
  { db, clock, eventTypes }: Announcing,
  nodeId: string,
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

/** Its types stay known until another node announces its own. */
export async function withdrawNode(
  { db, clock }: Pick<Announcing, "db" | "clock">,
  nodeId: string,
): Promise<void> {
  await recordNodeEnded(db, nodeId, clock());
}

/** Types that active subscriptions list and this node does not know, in order of name. */
export async function listUnknownSubscribed({
  db,
  eventTypes,
}: Pick<Announcing, "db" | "eventTypes">): Promise<string[]> {
  return listSubscribedBeside(db, [...eventTypes.names, ...NOTICE_TYPES]);
}

/** The types of this node, those that any node has ever announced, and those of notices if there are any. */
export async function listEverKnown({
  db,
  eventTypes,
  platformOrganization,
}: Pick<Dependencies, "db" | "eventTypes" | "platformOrganization">): Promise<string[]> {
  const notices = platformOrganization ? NOTICE_TYPES : [];
  return [...new Set([...eventTypes.names, ...notices, ...(await listEventTypeNames(db))])];
}
