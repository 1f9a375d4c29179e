import assert from "node:assert/strict";
import { test } from "node:test";
import { OWN_EVENT_TYPES } from "../../src/domain/event-types.ts";
import { PROBLEMS } from "../../src/http/problem.ts";
import { downloads } from "../../site/downloads.ts";
import { openApiDocument } from "../../site/generated/openapi-document.ts";
import { renderPage } from "../../site/page.ts";
import { NOT_FOUND, PAGES } from "../../site/pages.ts";
import { searchIndex } from "../../site/search-index.ts";

const pages = await Promise.all([...PAGES, NOT_FOUND].map(renderPage));
const page = (name: string) => {
  const found = pages.find((each) => each.name === name);
  assert.ok(found, name);
  return found;
};
const ids = (name: string) => page(name).headings.map(({ id }) => id);

test("the errors page explains exactly the existing codes, each under its anchor", () => {
  const explained = page("errors").headings.filter(({ depth }) => depth === 3);
  assert.deepEqual(explained.map(({ id }) => id).sort(), Object.keys(PROBLEMS).sort());
  for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
    const section = page("errors").html.split(`<h3 id="${code}">`)[1]?.split("<h3")[0] ?? "";
    assert.ok(section.includes(`<strong>${status} ${title}.</strong>`), code);
    assert.ok(section.includes("<strong>Solution.</strong>"), code);
  }
});

test("the events page lists every type", () => {
  for (const type of Object.keys(OWN_EVENT_TYPES)) {
    assert.ok(ids("events").includes(type.replaceAll(".", "-")), type);
    assert.ok(page("events").html.includes(`&quot;${type}&quot;`), type);
  }
});

test("the reference has the six calls, each with its errors", async () => {
  const { paths } = await openApiDocument();
  const calls = Object.values(paths).flatMap((methods) => Object.values(methods));
  assert.equal(calls.length, 6);
  const sections = page("reference").html.split("<h2 ").slice(1);
  for (const [i, { summary, responses }] of calls.entries()) {
    const section = sections[i] ?? "";
    assert.ok(section.includes(`>${summary} <a`), summary);
    const refusals = Object.values(responses).flatMap(({ description }) => [
      ...description.matchAll(/\(`(\w+)`\)/g),
    ]);
    assert.ok(refusals.length >= 5, summary);
    for (const [, code = ""] of refusals) {
      assert.ok(section.includes(`href="/docs/errors#${code}"`), `${summary}: ${code}`);
    }
  }
});

test("the changelog page has only changes for partners", () => {
  const { html } = page("changelog");
  assert.ok(html.includes("<li>The identity check, webhook subscriptions"));
  assert.doesNotMatch(html, /For partners|For operators|EGRESS_DENY/);
});

test("the reference explains every member", () => {
  const { html } = page("reference");
  assert.ok(html.includes("<td>"));
  assert.doesNotMatch(html, /<td><\/td>/);
});

test("every link within the documentation leads to an existing page and anchor", () => {
  const paths = new Map(pages.map((each) => [each.path, each.headings.map(({ id }) => id)]));
  for (const { name } of downloads()) paths.set(`/docs/files/${name}`, []);
  for (const { html, path } of pages) {
    for (const [, href = ""] of html.matchAll(/href="([^"]+)"/g)) {
      if (!href.startsWith("/") && !href.startsWith("#")) continue;
      const { pathname, hash } = new URL(href, `http://localhost${path}`);
      const anchors = paths.get(pathname);
      assert.ok(anchors, `${path} links to ${href}`);
      if (hash !== "") assert.ok(anchors.includes(hash.slice(1)), `${path} links to ${href}`);
    }
  }
});

test("no page has an anchor twice", () => {
  for (const { html, path } of pages) {
    const all = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(all).size, all.length, path);
  }
});

test("the search index has every section of every page", () => {
  const index = searchIndex(pages);
  for (const { path, headings } of pages) {
    const base = path.slice("/docs".length);
    const expected = [base, ...headings.map(({ id }) => `${base}#${id}`)];
    const known = index.map(({ href }) => href);
    assert.deepEqual(
      expected.filter((href) => !known.includes(href)),
      [],
      path,
    );
  }
  const raw = index.filter(({ text, title }) => /&#?\w+;/.test(title + text));
  assert.deepEqual(raw, [], "text, not HTML");
  const headers = index.filter(({ text }) => text.includes("X-VC-Signature"));
  assert.ok(headers.length > 1, "code is searchable");
});
