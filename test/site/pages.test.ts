import assert from "node:assert/strict";
import { test } from "node:test";
import { downloads } from "../../site/downloads.ts";
import { openApiDocument } from "../../site/generated/openapi-document.ts";
import { llmsText } from "../../site/llms-text.ts";
import { renderPage } from "../../site/page.ts";
import { NOT_FOUND, PAGES } from "../../site/pages.ts";
import { searchIndex } from "../../site/search-index.ts";
import { BODY_BYTES_MAX, HEAD_BYTES_MAX } from "../../src/http/app.ts";
import { PROBLEMS } from "../../src/http/problem.ts";
import { OWN_EVENT_TYPES } from "../../src/subjects/event-types/rules.ts";
import {
  ANSWER_KEPT_MS,
  DATA_BYTES_MAX,
  IDEMPOTENCY_KEY_RULE,
} from "../../src/subjects/events/rules.ts";
import { EVENTS_LENGTH_MAX } from "../../src/subjects/subscriptions/rules.ts";

const pages = await Promise.all([...PAGES, NOT_FOUND].map(renderPage));
const page = (name: string) => {
  const found = pages.find((each) => each.name === name);
  assert.ok(found, name);
  return found;
};
const ids = (name: string) => page(name).headings.map(({ id }) => id);

test("the errors page explains exactly the existing codes, those of operators last, each under its anchor", async () => {
  const { headings, html } = page("errors");
  const [, own = ""] = html.split('<h2 id="codes-of-the-operators-api">');
  const codes = headings.filter(({ depth }) => depth === 3).map(({ id }) => id);
  assert.deepEqual(codes.toSorted(), Object.keys(PROBLEMS).sort());

  const { paths } = await openApiDocument();
  const documented = JSON.stringify(paths);
  const operators = codes.filter((code) => own.includes(`<h3 id="${code}">`));
  assert.ok(operators.length > 0);
  const strangers = operators.filter((code) => documented.includes(`(\`${code}\`)`));
  assert.deepEqual(strangers, [], "no partner gets a code that is listed for operators");

  for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
    const section = html.split(`<h3 id="${code}">`)[1]?.split("<h3")[0] ?? "";
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
  assert.equal(calls.length, 6, "the number of the document's calls");
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
  assert.doesNotMatch(html, /for partners|for operators|EGRESS_DENY/i);
});

test("the reference explains every member", () => {
  const { html } = page("reference");
  assert.ok(html.includes("<td>"));
  assert.doesNotMatch(html, /<td><\/td>/);
});

test("every link within the documentation leads to an existing page and anchor", () => {
  const paths = new Map(pages.map((each) => [each.path, each.headings.map(({ id }) => id)]));
  for (const { name } of downloads()) paths.set(`/docs/files/${name}`, []);
  paths.set("/desk", []);
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

test("each page is available as Markdown, with included files, absolute addresses and no HTML", () => {
  for (const { markdown, title, path } of pages) {
    assert.ok(markdown.startsWith(`# ${title}\n\n`), path);
    assert.doesNotMatch(markdown, / file=|^:::|^<\w|\]\(\/docs/m, path);
  }
  assert.match(
    page("verifying").markdown,
    /^\*\*Go\*\* \[verify\.go\]\(https:\/\/partners\.example\.com\/docs\/files\/verify\.go\)\n\n```go\npackage webhook\n/m,
  );
});

test("the list for language models has every page with its summary", () => {
  const text = llmsText();
  for (const { title, summary, name } of PAGES) {
    assert.ok(
      text.includes(`[${title}](https://partners.example.com/docs/${name}.md): ${summary}`),
    );
  }
});

test("the limits page has the largest sizes of requests and deliveries", () => {
  const { html } = page("limits");
  for (const cell of [
    `${BODY_BYTES_MAX / 1024} KiB`,
    `at most 1,000, with ${HEAD_BYTES_MAX / 1024} KiB in all`,
    `${DATA_BYTES_MAX / 1024} KiB of JSON`,
    `${EVENTS_LENGTH_MAX.toLocaleString("en")} characters in all names, plus one for each name after the first`,
    `${IDEMPOTENCY_KEY_RULE.replace("must be ", "")}. We remember it for ${ANSWER_KEPT_MS / 3_600_000} hours`,
  ]) {
    assert.ok(html.includes(`<td>${cell}</td>`), cell);
  }
});
