import type { FastifyRequest } from "fastify";
import { PartnerError } from "../../domain/errors.ts";
import { isBehindHttps } from "./session-cookie.ts";

/** What the console sends, and what no page of another site can send without being asked for permission first. */
const CONSOLE = "console";

/** Refuses a change that the console did not ask for: a browser adds the cookie to requests of other pages, too. */
export function refuseCrossSite({ method, headers, raw }: FastifyRequest): void {
  if (method === "GET" || headers["x-requested-with"] === CONSOLE) return;
  const origin = `${isBehindHttps(raw) ? "https" : "http"}://${headers.host ?? ""}`;
  if (headers.host !== undefined && headers.origin === origin) return;
  throw new PartnerError(
    "cross_site",
    "A session changes things for the console alone: send X-Requested-With: console, or a token.",
  );
}
