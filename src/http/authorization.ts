import type { IncomingMessage } from "node:http";

/** The `Authorization` header. Undefined also for two of them, of which Node shows the first alone. */
export function authorizationOf({ headers, rawHeaders }: IncomingMessage): string | undefined {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === "authorization") count++;
  }
  return count === 1 ? headers.authorization : undefined;
}
