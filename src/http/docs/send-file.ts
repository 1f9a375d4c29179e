import type { FastifyReply, FastifyRequest } from "fastify";
import type { Served } from "./site.ts";

/** Nothing but our own files, no text that becomes markup or script, no frame around us, and no form. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** What every page of ours carries. */
export const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

export function sendFile(
  { body, etag, type, isForever }: Served,
  request: FastifyRequest,
  reply: FastifyReply,
): unknown {
  reply.headers(PAGE_HEADERS).headers({
    etag,
    // A page is asked for anew each time, and mostly answered by 304.
    "cache-control": isForever ? "public, max-age=31536000, immutable" : "no-cache",
  });
  if (isKnown(request.headers["if-none-match"], etag)) return reply.code(304).send();
  return reply.type(type).send(body);
}

/** Proxies that compress make weak tags of ours. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}
