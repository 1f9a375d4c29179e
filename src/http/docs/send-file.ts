import type { FastifyReply } from "fastify";
import type { Served } from "./site.ts";

/** Allows only our own files. Forbids text as markup or script, frames around our pages, and forms. */
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

/** The headers of every page. */
export const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

export function sendFile({ body, type }: Served, reply: FastifyReply): unknown {
  return reply.headers(PAGE_HEADERS).type(type).send(body);
}
