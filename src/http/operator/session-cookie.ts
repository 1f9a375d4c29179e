import type { IncomingMessage } from "node:http";

export const SESSION_COOKIE = "partner_api_session";

const SEPARATOR = "~";
const SESSIONS_MAX = 8;

/**
 * Returns the sessions of the cookie: ours, and those of installations on other ports of the host, because a browser sends a cookie to
 * all ports. Returns none if there are several cookies, because a neighbouring host may have set one.
 */
export function sessionsOf({ headers }: Pick<IncomingMessage, "headers">): string[] {
  const values = (headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    .map((pair) => pair.slice(SESSION_COOKIE.length + 1));
  return values.length === 1 ? (values[0] ?? "").split(SEPARATOR, SESSIONS_MAX) : [];
}

/** Returns the value for these sessions, the newest first. */
export function joinSessions(sessions: readonly string[]): string {
  return sessions.slice(0, SESSIONS_MAX).join(SEPARATOR);
}

/** Returns the `Set-Cookie` of a session for `seconds`. With 0 it removes the cookie. */
export function sessionCookie(
  value: string,
  { seconds, isSecure }: { seconds: number; isSecure: boolean },
): string {
  const secure = isSecure ? "; Secure" : "";
  return `${SESSION_COOKIE}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

/** Returns true if the browser uses HTTPS, according to the proxy in front of us. */
export function isBehindHttps({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const said = headers["x-forwarded-proto"];
  const [first = ""] = (Array.isArray(said) ? (said[0] ?? "") : (said ?? "")).split(",");
  return first.trim().toLowerCase() === "https";
}
