import type { IncomingMessage } from "node:http";

/** How often a header was given. Node shows one of several, and does not say so. `name` is in lower case. */
export function timesGiven({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i];
    if (given?.length === name.length && given.toLowerCase() === name) count++;
  }
  return count;
}
