import type { FastifyRequest } from "fastify";
import { PartnerError } from "../../domain/errors.ts";
import { isBehindHttps } from "./session-cookie.ts";

/** The console's header. A page of another site cannot send it without a preflight request. */
const CONSOLE = "console";

/** Refuses a change that does not come from the console, because a browser adds the cookie to requests of other pages, too. */
export function refuseCrossSite({ method, headers, raw }: FastifyRequest): void {
  if (method === "GET" || headers["x-requested-with"] === CONSOLE) return;
  const origin = `${isBehindHttps(raw) ? "https" : "http"}://${headers.host ?? ""}`;
  if (headers.host !== undefined && headers.origin === origin) return;
  throw new PartnerError(
    "cross_site",
    "A change with the session cookie needs the header X-Requested-With: console. A program sends a token instead.",
  );
}
