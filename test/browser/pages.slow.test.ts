// Depends on: docs, site, src, test/browser, CHANGELOG.md

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { NOT_FOUND, PAGES } from "../../site/pages.ts";
import { axeFindings } from "../support/axe.ts";
import { aServedSite, DESKTOP, PHONE, skip, type View } from "../support/browser.ts";
import { ROOT } from "../support/root.ts";

const VIEWS: Record<string, View> = {
  "wide and light": { ...DESKTOP, colorScheme: "light" },
  "wide and dark": { ...DESKTOP, colorScheme: "dark" },
  "on a phone, light": { ...PHONE, colorScheme: "light" },
};
const ALL = [...PAGES, NOT_FOUND];

describe("in a browser", { skip }, async () => {
  const site = skip === false ? await aServedSite() : undefined;

  for (const [name, view] of Object.entries(VIEWS)) {
    test(`every page, ${name}: fits the screen, loads only our own files, and axe finds nothing`, async (t) => {
      assert.ok(site);
      const { page, complaints } = await site.open(t, view);
      for (const { path } of PAGES) {
        await page.goto(path);
        const excess = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert.equal(excess, 0, `${path} is too wide`);
        assert.deepEqual(await axeFindings(page), [], path);
        assert.deepEqual(
          complaints,
          [],
          `${path} keeps to its content security policy and our own files`,
        );
      }
    });
  }

  for (const { name, path } of ALL) {
    test(`the accessibility tree of ${path} is unchanged`, async (t) => {
      assert.ok(site);
      const { page } = await site.open(t, DESKTOP);
      await page.goto(path);
      const tree = outline(await page.locator("body").ariaSnapshot(), site.base);
      const file = join(ROOT, "test/browser/trees", `${name}.yaml`);
      if (process.env["UPDATE_TREES"]) writeFileSync(file, tree);
      assert.equal(tree, readFileSync(file, "utf8"), "to update it: UPDATE_TREES=1");
    });
  }
});

/**
 * The landmarks, headings and controls of a tree. Plain text is dropped, because it changes often
 * and has no roles.
 */
function outline(tree: string, base: string): string {
  const KEPT =
    /^\s*- '?(banner|main|navigation|search|heading|link|button|tab|tablist|tabpanel|searchbox|img|status|table)\b/;
  const lines = tree.split("\n").filter((line) => KEPT.test(line));
  return `${lines.join("\n")}\n`.replaceAll(base, "");
}
