import { existsSync } from "node:fs";
import { after, type TestContext } from "node:test";
import { pino } from "pino";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { BUILT_SITE } from "../../src/http/docs/site.ts";
import { buildPartnerApp } from "../../src/http/partner-app.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import { createEventTypes } from "../../src/subjects/event-types/rules.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The path of a browser for the tests. Undefined if this machine has none. */
export const CHROMIUM = [process.env["CHROMIUM"] ?? "", ...PLACES].find((path) => existsSync(path));

/** For the options of tests that need a browser. Without one the gate fails. */
export const skip =
  CHROMIUM === undefined && !process.env["CI"] && "this machine has no Chromium: set CHROMIUM";

export type View = NonNullable<Parameters<Browser["newContext"]>[0]>;

export const DESKTOP: View = { viewport: { width: 1280, height: 900 } };
export const PHONE: View = { viewport: { width: 390, height: 844 }, hasTouch: true };

/** The documentation, served for browsers. It is removed when the tests of the file have ended. */
export async function aServedSite() {
  const docs = BUILT_SITE;
  let base = "";
  const app = buildPartnerApp({ eventTypes: createEventTypes() } as Dependencies, {
    logger: pino({ level: "silent" }),
    baseUrl: () => base,
    health: { ready: () => Promise.resolve([]) },
    docs,
  });
  base = await app.listen({ host: "127.0.0.1", port: 0 });
  after(() => app.close());
  return aBrowserAt(base);
}

/** A browser for the pages at `base`. */
export async function aBrowserAt(base: string) {
  // For root, as in containers, Chromium runs only without its sandbox. It opens only our own pages.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? "", args });
  after(() => browser.close());

  return {
    base,
    /** A page as a reader sees it, with its errors and its requests to other hosts. */
    async open(t: TestContext, view: View): Promise<{ page: Page; complaints: string[] }> {
      const context: BrowserContext = await browser.newContext({ baseURL: base, ...view });
      t.after(() => context.close());
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("pageerror", ({ message }) => complaints.push(message));
      page.on("console", (entry) => {
        if (entry.type() !== "log") complaints.push(entry.text());
      });
      page.on("request", (request) => {
        if (!request.url().startsWith(base)) complaints.push(`asks for ${request.url()}`);
      });
      return { page, complaints };
    },
  };
}
