import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { BUILT_SITE, type SiteManifest } from "../../../src/http/docs/site.ts";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";
import { startPartnerApi } from "../../support/partner-api.ts";

const db = await createDatabase();
const { deps } = await createEngine(db);
const pages = BUILT_SITE;
const manifest = JSON.parse(await readFile(new URL("site.json", pages), "utf8")) as SiteManifest;
const paths = Object.keys(manifest).filter((path) => path.startsWith("/console"));

test("the console is served without a token, and its policy permits only its own files", async (t) => {
  const { ask } = startOperatorApi(t, deps, { pages });
  assert.equal(paths.length, 4);
  for (const url of [...paths, "/console/"]) {
    const { status, headers } = await ask({ url, authorization: null });
    assert.equal(status, 200, url);
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.match(policy, /; require-trusted-types-for 'script'; trusted-types 'none'$/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*|data:/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cache-control"], "no-store");
  }
});

test("the console's page has no inline script or style, and its script creates none", async (t) => {
  const { ask } = startOperatorApi(t, deps, { pages });
  const INLINE = /<style|\s(style|on\w+)=|<script(?! type="module" src="\/console\/assets\/)/;
  assert.doesNotMatch((await ask({ url: "/console" })).text, INLINE);
  const { text } = await ask({ url: paths.find((path) => path.endsWith(".js")) ?? "" });
  assert.ok(!/\beval\(|new Function\(|document\.write/.test(text));
});

test("the console is small: script and style together", async () => {
  const files = paths.filter((path) => /\.(js|css)$/.test(path)).map((path) => manifest[path]);
  const sizes = await Promise.all(
    files.map(async (one) => gzipSync(await readFile(new URL(one?.file ?? "", pages))).length),
  );
  const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1024;
  assert.ok(kilobytes < 70, `${kilobytes} KB, compressed`);
});

test("the root of the operators' listener leads to the console", async (t) => {
  const { ask } = startOperatorApi(t, deps, { pages });
  const { status, headers } = await ask({ url: "/", authorization: null });
  assert.deepEqual([status, headers["location"]], [302, "/console"]);
  const { ask: askDispatcher } = startOperatorApi(t, deps, { pages, withApi: false });
  assert.equal((await askDispatcher({ url: "/", authorization: null })).status, 404);
});

test("only the files that the console's page loads are served", async (t) => {
  const { ask } = startOperatorApi(t, deps, { pages });
  const { text } = await ask({ url: "/console" });
  const loaded = [...text.matchAll(/(?:src|href)="([./][^"]+)"/g)].map(([, path]) => path);
  assert.deepEqual(["/console", ...loaded].sort(), paths.sort());
});

test("the operators' listener has the console and no pages of the partners' documentation", async (t) => {
  const { ask } = startOperatorApi(t, deps, { pages });
  for (const url of [
    "/docs",
    "/console/nothing",
    "/console/../site.json",
    "/console/console.html",
  ]) {
    assert.equal((await ask({ url })).status, 404, url);
  }
});

test("neither the partners' listener nor a process that only dispatches has a console", async (t) => {
  const partners = startPartnerApi(t, db, { options: { docs: pages } });
  const { ask } = startOperatorApi(t, deps, { pages, withApi: false });
  for (const url of paths) {
    assert.equal((await partners.inject({ url })).statusCode, 404, url);
    assert.equal((await ask({ url })).status, 404, url);
  }
});
