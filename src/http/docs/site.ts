import { readFile } from "node:fs/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { SingleFlight } from "../../lib/single-flight.ts";
import type { App } from "../app.ts";

/** A built file. */
export interface SiteFile {
  /** The name in the folder. */
  file: string;
  type: string;
}

/** The files below `/docs` and `/console`, by path. Each listener serves its own. Other paths are not served. */
export type SiteManifest = Record<string, SiteFile>;

/** The service's address in the built pages. The server replaces it. */
export const DOCS_BASE_URL = "https://partners.example.com";

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

export function heading(title: string): string {
  const id = title.toLowerCase().replaceAll(" ", "-");
  const link = `<a class="anchor" href="#${id}" tabindex="-1" aria-hidden="true">#</a>`;
  return `<h2 id="${id}">${escapeHtml(title)} ${link}</h2>\n`;
}

/** Cells are HTML. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${text}</${tag}>`).join("")}</tr>\n`;
  const body = rows.map((row) => cells("td", row)).join("");
  return `<div class="members"><div class="scroll"><table>\n<thead>\n${cells("th", headings)}</thead>\n<tbody>\n${body}</tbody>\n</table></div></div>\n`;
}

/** Returns a block of code like those of the build. `code` is HTML. */
export function codeBlock(language: string, code: string): string {
  return `<figure class="code"><pre><code data-language="${language}">${code}</code></pre></figure>\n`;
}

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)|[^"\d\-tfn]+|./g;

/** Returns JSON with the classes that the build uses. */
export function highlightJson(json: string): string {
  return json.replace(
    TOKENS,
    (token, text?: string, colon?: string, number?: string, word?: string) => {
      if (text !== undefined && colon !== undefined) return span("attr", text) + colon;
      if (text !== undefined) return span("string", text);
      if (number !== undefined) return span("number", number);
      return word === undefined ? escapeHtml(token) : span("literal", word);
    },
  );
}

export function span(kind: string, text: string): string {
  return `<span class="hljs-${kind}">${escapeHtml(text)}</span>`;
}

type Send = (path: string, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Adds routes for `root` and everything below it, with or without a final slash. API documents omit them. */
export function pageRoutes(app: App, root: string, send: Send): void {
  const options = { schema: { hide: true } };
  app.get(root, options, (request, reply) => send(root, request, reply));
  app.get<{ Params: { "*": string } }>(`${root}/*`, options, (request, reply) => {
    const rest = request.params["*"].replace(/\/$/, "");
    return send(rest === "" ? root : `${root}/${rest}`, request, reply);
  });
}

/** The path that a proxy adds in front of ours. */
export function pathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, "");
}

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

/** A file with its content. */
export interface Served extends SiteFile {
  body: Buffer;
}

/** Where `npm run build` puts the documentation and the console, relative to dist/src/http/docs. */
export const BUILT_SITE = new URL("../../../docs/", import.meta.url);

/** The built pages. Each is read when it is first requested, and then kept. */
export class Site {
  readonly #folder: URL;
  readonly #atHome: (written: string, path: string) => string | Promise<string>;
  readonly #builtPath: (path: string) => string;
  readonly #served = new Map<string, Served>();
  /** Concurrent requests for a file share a descriptor. Otherwise clients could use up all of them. */
  readonly #reading = new SingleFlight((path) => this.#read(path));
  #manifest: Promise<Map<string, SiteFile>> | undefined;

  /** `atHome` changes the text of a page last. `builtPath` maps a path to that of the built page. */
  constructor(
    folder: URL,
    {
      atHome = (written) => written,
      builtPath = (path) => path,
    }: {
      atHome?: (written: string, path: string) => string | Promise<string>;
      builtPath?: (path: string) => string;
    } = {},
  ) {
    this.#folder = folder;
    this.#atHome = atHome;
    this.#builtPath = builtPath;
  }

  /** Returns the file at a path. Null if there is none. */
  async at(path: string): Promise<Served | null> {
    return this.#served.get(path) ?? this.#reading.ask(path);
  }

  async #read(path: string): Promise<Served | null> {
    this.#manifest ??= this.#readManifest().catch((error: unknown) => {
      this.#manifest = undefined;
      throw error;
    });
    const entry = (await this.#manifest).get(this.#builtPath(path));
    if (!entry) return null;

    const written = await this.#readFile(entry.file);
    const served = { ...entry, body: Buffer.from(await this.#atHome(written, path)) };
    this.#served.set(path, served);
    return served;
  }

  async #readManifest(): Promise<Map<string, SiteFile>> {
    const text = await this.#readFile("site.json");
    return new Map(Object.entries(JSON.parse(text) as SiteManifest));
  }

  /** The system's error has a code that would make it an outage of the database. */
  async #readFile(name: string): Promise<string> {
    try {
      return await readFile(new URL(name, this.#folder), "utf8");
    } catch (cause) {
      throw new Error(`${name} cannot be read`, { cause });
    }
  }
}
