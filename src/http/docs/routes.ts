import type { FastifyReply, FastifyRequest } from "fastify";
import { PartnerError } from "../../domain/errors.ts";
import type { App } from "../app.ts";
import { type Served, Site } from "./site.ts";

const ROOT = "/docs";
const NOT_FOUND = "/docs/not-found";

/** Nothing but our own files, no frame around us, and no form: the pages need no more. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

const HIDDEN = { schema: { hide: true } };

/** The documentation, for everybody: no key, no limit. */
export function docsRoutes(app: App, folder: URL, baseUrl: () => string): void {
  const site = new Site(folder, baseUrl);

  app.get(ROOT, HIDDEN, (request, reply) => send(ROOT, request, reply));
  app.get<{ Params: { "*": string } }>(`${ROOT}/*`, HIDDEN, (request, reply) => {
    const rest = request.params["*"].replace(/\/$/, "");
    return send(rest === "" ? ROOT : `${ROOT}/${rest}`, request, reply);
  });

  async function send(
    path: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<unknown> {
    const file = path === NOT_FOUND ? null : await site.at(path);
    return file ? sendFile(file, request, reply) : sendNotFound(request, reply);
  }

  /** A page for browsers; for programs the same problem as everywhere. */
  async function sendNotFound(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const page = wantsHtml(request) ? await site.at(NOT_FOUND) : null;
    reply.header("vary", "Accept");
    if (!page) throw new PartnerError("not_found", "There is no such page.");
    return reply.code(404).headers(HEADERS).type(page.type).send(page.body);
  }
}

function sendFile(
  { body, etag, type, isForever }: Served,
  request: FastifyRequest,
  reply: FastifyReply,
): unknown {
  reply.headers(HEADERS).headers({
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

function wantsHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? "");
}
