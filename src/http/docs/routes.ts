import type { FastifyReply, FastifyRequest } from "fastify";
import { PartnerError, noSuch } from "../../domain/errors.ts";
import type { EventTypes } from "../../domain/event-types.ts";
import type { App } from "../app.ts";
import { type AboutService, fillAbout } from "./about-service.ts";
import { builtPath, createFill, markdownAt } from "./event-pages.ts";
import { EVENT_TEMPLATE } from "./event-template.ts";
import { DOCS_BASE_URL } from "./manifest.ts";
import { pageRoutes, pathOf } from "./page-routes.ts";
import { PAGE_HEADERS, sendFile } from "./send-file.ts";
import { Site } from "./site.ts";

const MARKDOWN = "text/markdown; charset=utf-8";
const NOT_FOUND = "/docs/not-found";
/** Further paths, which tools try without having seen a link. */
const ALIASES = { "/llms.txt": "/docs/llms.txt", "/docs.md": "/docs/index.md" };
/** Built pages that are not served under their own paths. */
const HIDDEN = [NOT_FOUND, EVENT_TEMPLATE.path];

/** The documentation. It needs no key and has no rate limit. */
export function docsRoutes(
  app: App,
  folder: URL,
  {
    baseUrl,
    eventTypes,
    about,
  }: { baseUrl: () => string; eventTypes: EventTypes; about: AboutService },
): void {
  const fill = createFill(eventTypes);
  const site = new Site(folder, {
    builtPath: (path) => builtPath(path, eventTypes),
    atHome: async (written, path) =>
      atHome(fillAbout(path, await fill(path, written), about), baseUrl()),
  });

  app.get("/", { schema: { hide: true } }, async (request, reply) => {
    if (!wantsHtml(request)) throw new PartnerError("not_found", "The documentation is at /docs.");
    return reply.header("vary", "Accept").redirect(`${pathOf(baseUrl())}/docs`);
  });

  pageRoutes(app, "/docs", send);
  for (const [alias, path] of Object.entries(ALIASES)) {
    app.get(alias, { schema: { hide: true } }, (request, reply) => send(path, request, reply));
  }

  async function send(path: string, request: FastifyRequest, reply: FastifyReply) {
    const markdown = markdownAt(path, eventTypes);
    if (markdown !== null) return reply.headers(PAGE_HEADERS).type(MARKDOWN).send(markdown);

    const file = HIDDEN.includes(path) ? null : await site.at(path);
    return file ? sendFile(file, reply) : sendNotFound(request, reply);
  }

  /** Sends a page to browsers, and the usual problem to programs. */
  async function sendNotFound(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const page = wantsHtml(request) ? await site.at(NOT_FOUND) : null;
    reply.header("vary", "Accept");
    if (!page) throw noSuch("page");
    return reply.code(404).headers(PAGE_HEADERS).type(page.type).send(page.body);
  }
}

function wantsHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? "");
}

/** Writes our own address into the samples, and its path into the links, for a proxy that adds one. */
function atHome(written: string, baseUrl: string): string {
  const prefix = pathOf(baseUrl);
  return written
    .replaceAll('="/docs', `="${prefix}/docs`)
    .replaceAll(DOCS_BASE_URL, baseUrl.replaceAll("&", "&amp;"));
}
