import type { IncomingMessage } from "node:http";

export const SESSION_COOKIE = "partner_api_session";

/** The value of the session's cookie. Null also for two of them: a neighbouring name may have planted one. */
export function sessionCookieOf({ headers }: Pick<IncomingMessage, "headers">): string | null {
  const values = (headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    .map((pair) => pair.slice(SESSION_COOKIE.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}

/** The `Set-Cookie` of a session that lasts so long; one of no length removes it. */
export function sessionCookie(
  value: string,
  { seconds, isSecure }: { seconds: number; isSecure: boolean },
): string {
  const secure = isSecure ? "; Secure" : "";
  return `${SESSION_COOKIE}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

/** Whether the browser speaks https to us, as the proxy in front of us says. */
export function isBehindHttps({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const said = headers["x-forwarded-proto"];
  const [first = ""] = (Array.isArray(said) ? (said[0] ?? "") : (said ?? "")).split(",");
  return first.trim().toLowerCase() === "https";
}
