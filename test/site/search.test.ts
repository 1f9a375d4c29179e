import assert from "node:assert/strict";
import { test } from "node:test";
import { renderPage } from "../../site/page.ts";
import { PAGES } from "../../site/pages.ts";
import { searchIndex } from "../../site/search-index.ts";
import { ROOT } from "../support/root.ts";

interface Found {
  href: string;
}
const { createSearch } = (await import(
  new URL("site/assets/docs/search.js", `file://${ROOT}`).href
)) as { createSearch: (sections: object[]) => (typed: string) => Found[] };
const search = createSearch(searchIndex(await Promise.all(PAGES.map(renderPage))));

for (const typed of ["allowlist", "whitelist", "Allowlists", "firewall", "source addresses"]) {
  test(`a search for ${typed} finds our source addresses`, () => {
    const found = search(typed).map(({ href }) => href);
    assert.ok(found.includes("/deliveries#the-connection"), found.join("\n"));
  });
}

test("words of a group find each other, also a word that no page has", () => {
  const sections = ["whitelist", "redeliver", "idempotency", "signature"].map((text) => ({
    href: `#${text}`,
    page: "a page",
    title: "a title",
    text,
  }));
  const find = createSearch(sections);
  const first = (typed: string) => find(typed).map(({ href }) => href);
  assert.deepEqual(first("allowlist"), ["#whitelist"]);
  assert.deepEqual(first("replay"), ["#redeliver"]);
  assert.deepEqual(first("dedupe"), ["#idempotency"]);
  assert.deepEqual(first("hmac"), ["#signature"]);
  assert.deepEqual(first("nothing"), []);
});
