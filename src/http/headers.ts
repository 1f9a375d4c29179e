import type { IncomingMessage } from "node:http";
import { randomId } from "../lib/ids.ts";

/** Returns how often a header was sent, because Node shows only one. `name` is in lower case. */
export function timesGiven({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i];
    if (given?.length === name.length && given.toLowerCase() === name) count++;
  }
  return count;
}

/** Returns the `Authorization` header. Returns undefined if there are several, because Node shows only the first. */
export function authorizationOf(request: IncomingMessage): string | undefined {
  return timesGiven(request, "authorization") === 1 ? request.headers.authorization : undefined;
}

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Returns the client's id for its request if it is harmless, else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && REQUEST_ID.test(given) ? given : randomId();
}

/** The headers of every answer, including those to parser errors. */
export function standardHeaders(requestId: string): Record<string, string> {
  return {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}
