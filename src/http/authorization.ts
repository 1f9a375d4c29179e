import type { IncomingMessage } from "node:http";
import { timesGiven } from "./raw-headers.ts";

/** Returns the `Authorization` header. Returns undefined if there are several, because Node shows only the first. */
export function authorizationOf(request: IncomingMessage): string | undefined {
  return timesGiven(request, "authorization") === 1 ? request.headers.authorization : undefined;
}
