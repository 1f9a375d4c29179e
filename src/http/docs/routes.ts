import type { FastifyReply, FastifyRequest } from "fastify";
import { noSuch, PartnerError } from "../../lib/errors.ts";
import type { EventTypes } from "../../subjects/event-types/rules.ts";
import type { App } from "../app.ts";
import type { Contact } from "../openapi.ts";
import { builtPath, createFill, EVENT_TEMPLATE, markdownAt } from "./event-pages.ts";
import {
  DOCS_BASE_URL,
  escapeHtml,
  PAGE_HEADERS,
  pageRoutes,
  pathOf,
  sendFile,
  Site,
} from "./site.ts";

/** The operators' web page. It needs no token, because it holds no data: it reads everything from the operator API. */
export function consoleRoutes(app: App, folder: URL): void {
  const site = new Site(folder);
  app.get("/", { schema: { hide: true } }, (_request, reply) => reply.redirect("/console"));
  pageRoutes(app, "/console", async (path, _request, reply) => {
    const file = await site.at(path);
    if (!file) throw noSuch("page");
    return sendFile(file, reply);
  });
}

/** The operator's information for partners. */
export interface AboutService {
  /** An e-mail address or a URL. Null: none is shown. */
  contact: string | null;
  /** Addresses and blocks that deliveries come from. Empty: partners have to ask. */
  egressShown: readonly string[];
  /** Null: there is no desk. */
  desk: object | null;
}

export const NO_ABOUT: AboutService = { contact: null, egressShown: [], desk: null };

/** The placeholders in the built pages. */
export const ABOUT = {
  contact: "<!-- contact -->",
  egress: "<!-- egress -->",
};

/** What pages say of the desk. */
const DESK_PART = /<!-- desk -->(.*?)<!-- \/desk -->/gs;

/** How a kind of page writes a paragraph, a link and code. */
interface Writing {
  paragraph: (text: string) => string;
  link: (href: string, text: string) => string;
  code: (text: string) => string;
}

const HTML: Writing = {
  paragraph: (text) => `<p>${text}</p>`,
  link: (href, text) => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`,
  code: (text) => `<code>${escapeHtml(text)}</code>`,
};

const IN_MARKDOWN: Writing = {
  paragraph: (text) => text,
  link: (href, text) => `[${text}](${href})`,
  code: (text) => `\`${text}\``,
};

/** Fills in the configured information. */
function fillAbout(
  path: string,
  written: string,
  { contact, egressShown, desk }: AboutService,
): string {
  const isText = /\.(md|txt)$/.test(path);
  const { paragraph, link, code } = isText ? IN_MARKDOWN : HTML;
  const filled = written
    .replace(ABOUT.contact, () =>
      contact === null ? "" : paragraph(`Contact: ${link(hrefOf(contact), contact)}`),
    )
    .replace(DESK_PART, (_, part: string) => (desk === null ? "" : part.trim()))
    .replace(ABOUT.egress, () =>
      paragraph(
        egressShown.length === 0
          ? "Ask the operator of the service for these addresses."
          : `Deliveries come from ${egressShown.map(code).join(", ")}.`,
      ),
    );
  return isText ? `${filled.trimEnd()}\n` : filled;
}

/** The contact for the OpenAPI document. */
export function contactOf({ contact }: AboutService): Contact {
  const name = "The operator of this service";
  if (contact === null) return { name };
  return isUrl(contact) ? { name, url: contact } : { name, email: contact };
}

function hrefOf(contact: string): string {
  return isUrl(contact) ? contact : `mailto:${contact}`;
}

function isUrl(contact: string): boolean {
  return /^https?:/.test(contact);
}

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
    .replace(/="\/(?=docs|desk)/g, `="${prefix}/`)
    .replaceAll(DOCS_BASE_URL, baseUrl.replaceAll("&", "&amp;"));
}
