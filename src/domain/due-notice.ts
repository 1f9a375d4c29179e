import type { OrganizationId, ProcessId, SubscriptionId } from "./ids.ts";

/** A subscription that has something due, and its organization. */
export interface DueSubscription {
  subscriptionId: SubscriptionId;
  organizationId: OrganizationId;
}

/** A UUID in base64url. */
const ID_CHARS = 22;
const ID = /^[\w-]{22}$/;
const PAIR = /^[\w-]{44}$/;
/** PostgreSQL accepts a payload of less than 8,000 bytes. */
const PAYLOAD_MAX = 7_999;

/** The largest number of subscriptions in one notice. */
export const NOTICE_MAX = Math.floor((PAYLOAD_MAX - ID_CHARS) / (2 * ID_CHARS));

/**
 * Returns a notice of at most `NOTICE_MAX` subscriptions. Without an addressee it is for all other processes. Version 1.0.0 reads
 * a notice with an addressee as one for all.
 */
export function encodeNotice(
  due: readonly DueSubscription[],
  addressee: ProcessId | null = null,
): string {
  const pairs = due.map((one) => pack(one.organizationId) + pack(one.subscriptionId)).join("");
  return addressee === null ? pairs : pairs + pack(addressee);
}

/** Returns the process that a notice is for. Null: all. */
export function addresseeOf(text: string): ProcessId | null {
  const rest = text.slice(text.length - (text.length % (2 * ID_CHARS)));
  return ID.test(rest) ? unpack(rest) : null;
}

/** Returns the subscriptions of a notice. Any role of the database can send one, so malformed parts are ignored. */
export function decodeNotice(text: string): DueSubscription[] {
  const due: DueSubscription[] = [];
  for (let at = 0; at < text.length; at += 2 * ID_CHARS) {
    const pair = text.slice(at, at + 2 * ID_CHARS);
    if (!PAIR.test(pair)) break;
    due.push({
      organizationId: unpack(pair.slice(0, ID_CHARS)),
      subscriptionId: unpack(pair.slice(ID_CHARS)),
    });
  }
  return due;
}

function pack(uuid: string): string {
  return Buffer.from(uuid.replaceAll("-", ""), "hex").toString("base64url");
}

function unpack(text: string): string {
  const hex = Buffer.from(text, "base64url").toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
