import { createHmac, timingSafeEqual } from "node:crypto";
import { UUID } from "../../lib/ids.ts";

export const OPERATOR_ROLES = ["operate", "read", "publish"] as const;

/** The rights of an operator token. `operate`: all routes. `read`: GET. `publish`: the routes that publishers need. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export interface OperatorToken {
  /** Its holder's name in the log. */
  name: string;
  role: OperatorRole;
  token: string;
}

/** Returns true if a role may call a route. The route declares `serves…`. */
export function mayCall(
  role: OperatorRole,
  {
    method,
    servesPublishers,
    servesReaders,
  }: { method: string; servesPublishers: boolean; servesReaders: boolean },
): boolean {
  switch (role) {
    case "operate":
      return true;
    case "read":
      return method === "GET" || servesReaders;
    case "publish":
      return servesPublishers;
  }
}

/** Returns true if a token of this role may start a session in the console. */
export function maySignIn(role: OperatorRole): boolean {
  return role !== "publish";
}

/** How long a sign-in lasts. */
export const SESSION_MS = 12 * 3_600_000;

/** An operator's sign-in, as its cookie states it. */
export interface Session {
  /** The part that sign-out remembers. */
  nonce: string;
  endsAt: Date;
}

const FORM = new RegExp(`^(?<nonce>${UUID})\\.(?<endsMs>[0-9]{1,14})\\.(?<mac>[\\w-]{43})$`);

/** The value of a session's cookie. Every process that knows the token can verify it. */
export function encodeSession(session: Session, token: string): string {
  const { nonce, endsAt } = session;
  return `${nonce}.${endsAt.getTime()}.${macOf(session, token).toString("base64url")}`;
}

/** Returns the session and the token that signed it. Null if none did or the session has expired. */
export function openSession<Token extends { token: string }>(
  value: string,
  tokens: readonly Token[],
  now: Date,
): { session: Session; signer: Token } | null {
  const { nonce = "", endsMs, mac = "" } = FORM.exec(value)?.groups ?? {};
  if (endsMs === undefined) return null;
  const session = { nonce, endsAt: new Date(Number(endsMs)) };
  const given = Buffer.from(mac, "base64url");
  // Compares all of them, even after a match, so that the time reveals nothing.
  const [signer] = tokens.filter(({ token }) => timingSafeEqual(macOf(session, token), given));
  return signer && now < session.endsAt ? { session, signer } : null;
}

/** Returns whether the value has the form of a session that has not expired, of any installation. */
export function isUnexpired(value: string, now: Date): boolean {
  const { endsMs } = FORM.exec(value)?.groups ?? {};
  return endsMs !== undefined && now.getTime() < Number(endsMs);
}

function macOf({ nonce, endsAt }: Session, token: string): Buffer {
  return createHmac("sha256", token)
    .update(`partner-api session ${nonce} ${endsAt.getTime()}`)
    .digest();
}
