import type { IncomingMessage } from "node:http";
import { timesGiven } from "./raw-headers.ts";

/** The `Authorization` header. Undefined also for two of them, of which Node shows the first alone. */
export function authorizationOf(request: IncomingMessage): string | undefined {
  return timesGiven(request, "authorization") === 1 ? request.headers.authorization : undefined;
}
