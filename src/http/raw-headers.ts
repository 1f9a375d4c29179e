import type { IncomingMessage } from "node:http";

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
