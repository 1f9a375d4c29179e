import type { IncomingMessage } from "node:http";
import { randomId } from "../domain/ids.ts";

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
