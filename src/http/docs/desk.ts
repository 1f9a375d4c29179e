import { readFile } from "node:fs/promises";
import type { DeskSettings } from "../../config/config.ts";
import { brandStyle } from "../../lib/colour.ts";
import { noSuch } from "../../lib/errors.ts";
import { USER_AGENT } from "../../lib/product.ts";
import type { EventTypes } from "../../subjects/event-types/rules.ts";
import type { App } from "../app.ts";
import {
  escapeHtml,
  PAGE_HEADERS,
  pageRoutes,
  pathOf,
  sendFile,
  type Served,
  Site,
} from "./site.ts";

/** Rules of the service that the page tells. */
interface Rules {
  autoDisableAfter: number;
  attemptTimeoutMs: number;
}

/** The settings, with the files that they name read. */
export interface Desk extends Rules {
  title: string;
  logo: Pick<Served, "type" | "body"> | null;
  style: string;
}

const LOGO_BYTES_MAX = 100_000;
const PNG = Buffer.from("89504e470d0a1a0a", "hex");
/** A logo that is opened by itself is a document. It may run and load nothing. */
const LOGO_HEADERS = {
  ...PAGE_HEADERS,
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
};

/** Throws an error that names DESK_LOGO, if the file is no logo. */
export async function openDesk(
  { title, logo, accent }: DeskSettings,
  { autoDisableAfter, attemptTimeoutMs }: Rules,
): Promise<Desk> {
  return {
    ...{ title, autoDisableAfter, attemptTimeoutMs },
    logo: logo === null ? null : await readLogo(logo),
    style: accent === null ? "" : brandStyle(accent),
  };
}

async function readLogo(path: string): Promise<Pick<Served, "type" | "body">> {
  const body = await readFile(path).catch((error: unknown) => {
    throw new Error(`DESK_LOGO cannot be read: ${(error as Error).message}`);
  });
  if (body.length > LOGO_BYTES_MAX) throw new Error(`DESK_LOGO ${path} has more than 100 kB`);
  if (body.subarray(0, PNG.length).equals(PNG)) return { type: "image/png", body };
  if (/^\uFEFF?\s*(<\?xml|<!--|<!doctype svg|<svg)/i.test(body.toString("utf8", 0, 256))) {
    return { type: "image/svg+xml", body };
  }
  throw new Error(`DESK_LOGO ${path} must be an SVG or a PNG`);
}

/** The partners' page. It needs no key, because it holds no data: it reads everything by the six endpoints. */
export function deskRoutes(
  app: App,
  folder: URL,
  { title, logo, style, autoDisableAfter, attemptTimeoutMs }: Desk,
  { baseUrl, eventTypes }: { baseUrl: () => string; eventTypes: EventTypes },
): void {
  const facts = {
    title,
    hasLogo: logo !== null,
    types: [...eventTypes].map(({ name, summary }) => ({ name, summary })),
    disableAfter: autoDisableAfter,
    attemptTimeoutMs,
    userAgent: USER_AGENT,
  };
  const site = new Site(folder, {
    atHome: (written, path) =>
      path !== "/desk"
        ? written
        : written
            .replace(/="\/(?=desk|docs)/g, `="${pathOf(baseUrl())}/`)
            .replaceAll("<!-- title -->", () => escapeHtml(title))
            .replace("<!-- facts -->", () => escapeHtml(JSON.stringify(facts))),
  });
  app.get("/desk/brand.css", { schema: { hide: true } }, (_request, reply) =>
    reply.headers(PAGE_HEADERS).type("text/css; charset=utf-8").send(style),
  );
  app.get("/desk/logo", { schema: { hide: true } }, (_request, reply) => {
    if (logo === null) throw noSuch("page");
    return reply.headers(LOGO_HEADERS).type(logo.type).send(logo.body);
  });
  pageRoutes(app, "/desk", async (path, _request, reply) => {
    const file = await site.at(path);
    if (!file) throw noSuch("page");
    return sendFile(file, reply);
  });
}
