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
