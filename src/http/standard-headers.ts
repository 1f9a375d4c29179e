import type { IncomingMessage } from "node:http";
import { randomId } from "../domain/ids.ts";

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The client's own id for its request where that is harmless to repeat, else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && REQUEST_ID.test(given) ? given : randomId();
}

/** What every answer carries, an error of the HTTP parser's included. */
export function standardHeaders(requestId: string): Record<string, string> {
  return {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}
