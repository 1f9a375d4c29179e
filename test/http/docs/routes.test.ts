import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, test } from "node:test";
import type { InjectOptions } from "fastify";
import { PAGES } from "../../../site/pages.ts";
import { openDesk } from "../../../src/http/docs/desk.ts";
import { BUILT_SITE, DOCS_BASE_URL, type SiteManifest } from "../../../src/http/docs/site.ts";
import { type Problem, PROBLEMS, toProblem } from "../../../src/http/problem.ts";
import { type ErrorCode, PartnerError } from "../../../src/lib/errors.ts";
import { createDatabase } from "../../support/database.ts";
import { startOperatorApi } from "../../support/operator-api.ts";
import { BASE_URL, startPartnerApi } from "../../support/partner-api.ts";
import { aPlatformsTypes } from "../../support/platform-types.ts";
import { problemCheck } from "../../support/problems.ts";

const db = await createDatabase();
const docs = BUILT_SITE;

const manifest = JSON.parse(await readFile(new URL("site.json", docs), "utf8")) as SiteManifest;

type Options = Parameters<typeof startPartnerApi>[2];
const startWithDocs = (t: Parameters<typeof startPartnerApi>[0], options: Options = {}) =>
  startPartnerApi(t, db, { ...options, options: { docs, ...options.options } });
const api = startWithDocs({ after });

test("every page is served without a key, with a policy that permits only our own files", async () => {
  for (const { path, title } of PAGES) {
    const { statusCode, headers, body } = await api.inject({ url: path });
    assert.equal(statusCode, 200, path);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.ok(body.includes(`<h1>${title}</h1>`), path);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.match(String(headers["x-request-id"]), /^[A-Za-z0-9_-]{1,64}$/);
    assert.equal(headers["ratelimit"], undefined);
  }
});

test("every response of the documentation has a policy that permits only our own files", async () => {
  const asset = /\/docs\/assets\/[^"]+/.exec((await api.inject({ url: "/docs" })).body)?.[0] ?? "";
  const paths = [...PAGES.map(({ path }) => path), asset, "/docs/files/webhook.mjs", "/docs/none"];
  for (const url of paths) {
    const { headers } = await api.inject({ url, headers: { accept: "text/html" } });
    assert.deepEqual(String(headers["content-security-policy"]).split("; "), [
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
    ]);
    assert.equal(headers["x-frame-options"], "DENY", url);
    assert.equal(headers["referrer-policy"], "no-referrer", url);
    assert.equal(headers["cross-origin-opener-policy"], "same-origin", url);
    assert.equal(headers["cross-origin-resource-policy"], "same-origin", url);
  }
});

test("no page has a foreign or inline script, style or picture", async () => {
  for (const { path } of PAGES) {
    const { body } = await api.inject({ url: path });
    assert.doesNotMatch(
      body,
      /<script(?![^>]* src="\/docs\/assets\/)|<style|\sstyle=|\son\w+=/,
      path,
    );
    assert.doesNotMatch(body, /<(img|iframe|object|embed|form|base)\b/, path);
    assert.doesNotMatch(
      body,
      /<link (?!rel="alternate" href="\/docs\/[\w-]+\.md")[^>]*href="(?!\/docs\/assets\/)/,
      path,
    );
  }
});

test("exactly the files that the build lists are served", async (t) => {
  const rules = { autoDisableAfter: 20, attemptTimeoutMs: 10_000 };
  const desk = await openDesk({ title: "Acme", logo: null, accent: null }, rules);
  const api = startWithDocs(t, { options: { desk } });
  for (const [path, { type }] of Object.entries(manifest)) {
    if (path === "/docs/not-found" || path === "/docs/event-type") continue;
    if (path.startsWith("/console")) {
      assert.equal((await api.inject({ url: path })).statusCode, 404, path);
      continue;
    }
    const { statusCode, headers } = await api.inject({ url: path });
    assert.deepEqual([statusCode, headers["content-type"]], [200, type], path);
  }
  for (const file of await readdir(docs)) {
    assert.equal((await api.inject({ url: `/docs/${file}` })).statusCode, 404, file);
  }
  for (const path of ["/docs/../site.json", "/docs/%2e%2e/site.json", "/docs/..%2fsite.json"]) {
    assert.equal((await api.inject({ url: path })).statusCode, 404, path);
  }
});

test("browsers cache no page", async () => {
  for (const url of Object.keys(manifest).filter((path) => path.startsWith("/docs"))) {
    const { headers } = await api.inject({ url });
    assert.equal(headers["cache-control"], "no-store", url);
  }
});

test("samples and links contain the address of the service", async (t) => {
  const body = async (baseUrl: string, url: string) => {
    const api = startWithDocs(t, { options: { baseUrl: () => baseUrl } });
    return (await api.inject({ url })).body;
  };
  const here = await body("http://127.0.0.1:8080", "/docs/quickstart");
  assert.ok(here.includes("PARTNER_API=http://127.0.0.1:8080"));
  assert.ok(!here.includes(DOCS_BASE_URL));
  assert.ok(here.includes('href="/docs/errors#unauthenticated"'));

  const behindProxy = await body("https://api.example.org/partners", "/docs/quickstart");
  assert.ok(behindProxy.includes("PARTNER_API=https://api.example.org/partners"));
  assert.ok(behindProxy.includes('href="/partners/docs/errors#unauthenticated"'));
  assert.ok(!behindProxy.includes('="/docs'));
  const requests = await body("https://api.example.org/partners", "/docs/files/partner-api.http");
  assert.match(requests, /^@baseUrl = https:\/\/api\.example\.org\/partners$/m);
});

test("for an unknown page a browser gets a page and a program gets a problem", async () => {
  const check = await problemCheck(api);
  const get = async (url: string, accept?: string) => {
    const headers = accept === undefined ? {} : { accept };
    const { statusCode: status, body, ...answer } = await api.inject({ url, headers });
    return { status, body, headers: answer.headers as Record<string, string> };
  };
  for (const url of [
    "/docs/nothing",
    "/docs/a/b",
    "/docs/not-found",
    "/docs/files/",
    "/docs/%00",
  ]) {
    const page = await get(url, "text/html,application/xhtml+xml,*/*;q=0.8");
    assert.deepEqual([page.status, page.headers["vary"]], [404, "Accept"], url);
    assert.match(page.body, /<h1>Page not found<\/h1>/);
    assert.match(page.headers["content-security-policy"] ?? "", /^default-src 'none'/);
    assert.equal(page.headers["cache-control"], "no-store");

    for (const accept of [undefined, "*/*", "application/json"]) {
      check(await get(url, accept), "not_found");
    }
  }
});

test("the pages support only GET, with or without a final slash", async () => {
  const methods = ["HEAD", "POST", "PUT", "DELETE"] as const satisfies InjectOptions["method"][];
  for (const url of ["/docs", "/docs/errors"]) {
    for (const method of methods) {
      const { statusCode, headers } = await api.inject({ method, url });
      assert.deepEqual([statusCode, headers.allow], [405, "GET"], `${method} ${url}`);
    }
    assert.equal((await api.inject({ url: `${url}/` })).statusCode, 200);
  }
});

test("the type of each error of both listeners leads to its explanation", async (t) => {
  const { type } = (await api.inject({ url: "/api/v1/partner/me" })).json<{ type: string }>();
  assert.equal(type, `${BASE_URL}/docs/errors#unauthenticated`);
  const operators = startOperatorApi(t, api.deps, { baseUrl: () => BASE_URL });
  const refused = (await operators.ask({ url: "keys", authorization: null })).body as Problem;
  assert.equal(refused.type, type);

  for (const code of Object.keys(PROBLEMS) as ErrorCode[]) {
    const problem = toProblem(new PartnerError(code, ""), BASE_URL, "");
    const { pathname, hash } = new URL(problem.type);
    const { statusCode, body } = await api.inject({ url: pathname });
    assert.equal(statusCode, 200);
    assert.ok(body.includes(`id="${hash.slice(1)}"`), code);
  }
});

test("the root leads browsers to the documentation, below the address of the service", async (t) => {
  const api = startWithDocs(t, { options: { baseUrl: () => "https://api.example.org/partners" } });
  const browser = await api.inject({ url: "/", headers: { accept: "text/html" } });
  assert.deepEqual([browser.statusCode, browser.headers.location], [302, "/partners/docs"]);
  assert.equal(browser.headers.vary, "Accept");

  const program = await api.inject({ url: "/" });
  assert.deepEqual([program.statusCode, program.json<{ code: string }>().code], [404, "not_found"]);
});

test("pages are served as Markdown, with the address of the service", async () => {
  const { headers, body } = await api.inject({ url: "/docs/quickstart.md" });
  assert.equal(headers["content-type"], "text/markdown; charset=utf-8");
  assert.ok(body.includes(`](${BASE_URL}/docs/errors.md#unauthenticated)`));
  const list = await api.inject({ url: "/docs/llms.txt" });
  assert.ok(list.body.includes(`](${BASE_URL}/docs/quickstart.md)`));
});

test("every page is there as Markdown, also the overview under the path that tools guess", async (t) => {
  const api = startWithDocs(t, { eventTypes: aPlatformsTypes() });
  const list = await api.inject({ url: "/docs/llms.txt" });
  const links = [...list.body.matchAll(/\]\((.+?)\)/g)].map(
    ([, url = ""]) => new URL(url).pathname,
  );
  const pages = PAGES.filter(({ path }) => path !== "/docs").map(({ path }) => `${path}.md`);
  const types = ["vc.test.ping", "order.created", "note.added"];
  assert.deepEqual(links.sort(), [
    ...["/docs/index.md", ...pages, ...types.map((type) => `/docs/events/${type}.md`)].sort(),
  ]);
  for (const url of [...links, "/docs.md"]) {
    const { statusCode, headers, body } = await api.inject({ url });
    assert.deepEqual([statusCode, headers["content-type"]], [200, "text/markdown; charset=utf-8"]);
    assert.match(body, /^# /, url);
    assert.doesNotMatch(
      body,
      /\]\([^)]*\/docs(\/[a-z-]+)?[)#]/,
      "a link to a page that is not Markdown",
    );
  }
});

test("the list for language models is at the root, too, as the convention says", async () => {
  const { statusCode, headers, body } = await api.inject({ url: "/llms.txt" });
  assert.deepEqual([statusCode, headers["content-type"]], [200, "text/plain; charset=utf-8"]);
  assert.equal(body, (await api.inject({ url: "/docs/llms.txt" })).body);
});

test("the documentation shows contact and egress addresses only if the operator has configured them", async (t) => {
  const plain = (await api.inject({ url: "/docs/deliveries" })).body;
  assert.doesNotMatch(plain, /Contact:|Deliveries come from|<!--/);
  assert.match(plain, /<p>Ask the operator of the service for these addresses\.<\/p>/);

  const about = {
    contact: "partners@example.com",
    egressShown: ["203.0.113.7", "2001:db8::/64"],
    desk: null,
  };
  const telling = startWithDocs(t, { options: { about } });
  const deliveries = (await telling.inject({ url: "/docs/deliveries" })).body;
  assert.doesNotMatch(deliveries, /Ask the operator of the service for these/);
  assert.match(deliveries, /come from <code>203\.0\.113\.7<\/code>, <code>2001:db8::\/64<\/code>/);
  for (const { path } of PAGES) {
    const { body } = await telling.inject({ url: path });
    assert.match(body, /<a href="mailto:partners@example\.com">partners@example\.com<\/a>/, path);
  }
  const text = (await telling.inject({ url: "/docs/deliveries.md" })).body;
  assert.match(text, /^Deliveries come from `203\.0\.113\.7`, `2001:db8::\/64`\./m);
  for (const url of ["/docs/deliveries.md", "/docs/index.md", "/llms.txt"]) {
    const { body } = await telling.inject({ url });
    assert.match(
      body,
      /^Contact: \[partners@example\.com\]\(mailto:partners@example\.com\)$/m,
      url,
    );
  }

  const url = { contact: "https://example.com/?a=1&b=2", egressShown: [], desk: null };
  const { body } = await startWithDocs(t, { options: { about: url } }).inject({ url: "/docs" });
  assert.match(body, /<a href="https:\/\/example\.com\/\?a=1&amp;b=2">/);
});

test("pages lead to the desk only where there is one, also below a proxy's path", async (t) => {
  const bodies = async (desk: object | null) => {
    const about = { contact: null, egressShown: [], desk };
    const baseUrl = () => "https://api.example.org/partners";
    const asked = startWithDocs(t, { options: { about, baseUrl } });
    const urls = ["/docs", "/docs/quickstart", "/docs/quickstart.md", "/docs/index.md"];
    return Promise.all(urls.map(async (url) => (await asked.inject({ url })).body));
  };
  for (const body of await bodies({})) {
    assert.match(body, /partners\/desk/);
    assert.doesNotMatch(body, /(?<!partners)\/desk\b(?! -->)|<!--/);
  }
  for (const body of await bodies(null)) assert.doesNotMatch(body, /desk/i);
});
