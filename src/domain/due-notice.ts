import type { OrganizationId, SubscriptionId } from "./ids.ts";

/** A subscription that has something due, and its organization. */
export interface DueSubscription {
  subscriptionId: SubscriptionId;
  organizationId: OrganizationId;
}

/** A UUID in base64url. */
const ID_CHARS = 22;
const PAIR = /^[\w-]{44}$/;
/** PostgreSQL accepts a payload of less than 8,000 bytes. */
const PAYLOAD_MAX = 7_999;

/** The largest number of subscriptions in one notice. */
export const NOTICE_MAX = Math.floor(PAYLOAD_MAX / (2 * ID_CHARS));

/** Returns a notice for other processes of at most `NOTICE_MAX` subscriptions. */
export function encodeNotice(due: readonly DueSubscription[]): string {
  return due.map((one) => pack(one.organizationId) + pack(one.subscriptionId)).join("");
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
