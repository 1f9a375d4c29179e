import type { FastifyReply, FastifyRequest } from "fastify";
import { PartnerError } from "../../domain/errors.ts";
import type { App } from "../app.ts";
import { DOCS_BASE_URL } from "./manifest.ts";
import { pageRoutes } from "./page-routes.ts";
import { PAGE_HEADERS, sendFile } from "./send-file.ts";
import { Site } from "./site.ts";

const NOT_FOUND = "/docs/not-found";

/** The documentation, for everybody: no key, no limit. */
export function docsRoutes(app: App, folder: URL, baseUrl: () => string): void {
  const site = new Site(folder, (written) => atHome(written, baseUrl()));

  pageRoutes(app, "/docs", async (path, request, reply) => {
    const file = path === NOT_FOUND ? null : await site.at(path);
    return file ? sendFile(file, reply) : sendNotFound(request, reply);
  });

  /** A page for browsers; for programs the same problem as everywhere. */
  async function sendNotFound(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const page = wantsHtml(request) ? await site.at(NOT_FOUND) : null;
    reply.header("vary", "Accept");
    if (!page) throw new PartnerError("not_found", "There is no such page.");
    return reply.code(404).headers(PAGE_HEADERS).type(page.type).send(page.body);
  }
}

function wantsHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? "");
}

/** With our own address in the samples, and below its path in the links, behind a proxy that adds one. */
function atHome(written: string, baseUrl: string): string {
  const prefix = new URL(baseUrl).pathname.replace(/\/$/, "");
  return written
    .replaceAll('="/docs', `="${prefix}/docs`)
    .replaceAll(DOCS_BASE_URL, baseUrl.replaceAll("&", "&amp;"));
}
