import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { SiteManifest } from "../../../src/http/docs/manifest.ts";
import { aBuiltSite } from "../../support/built-site.ts";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";
import { startPartnerApi } from "../../support/partner-api.ts";

const db = await createDatabase();
const { deps } = await createEngine(db);
const pages = await aBuiltSite();
const manifest = JSON.parse(await readFile(new URL("site.json", pages), "utf8")) as SiteManifest;
const paths = Object.keys(manifest).filter((path) => path.startsWith("/console"));

test("the console is served without a token, and lets in nothing but its own files", async (t) => {
  const { ask } = startOperatorApi(t, deps, { pages });
  assert.ok(paths.length > 3);
  for (const url of [...paths, "/console/"]) {
    const { status, headers, text } = await ask({ url, authorization: null });
    assert.equal(status, 200, url);
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.match(policy, /; require-trusted-types-for 'script'; trusted-types 'none'$/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*|data:/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.doesNotMatch(
      text,
      /innerHTML|<style|\s(style|on\w+)=|<script(?! type="module" src="\/console\/assets\/)/,
    );
    assert.equal(headers["cache-control"], "no-store");
  }
});

test("whatever the console's modules import is there, and nothing is there for nobody", async (t) => {
  const { ask } = startOperatorApi(t, deps, { pages });
  const reached = new Set(["/console"]);
  for (const url of reached) {
    const { status, text } = await ask({ url });
    assert.equal(status, 200, url);
    for (const [, named = ""] of text.matchAll(/(?:from|src=|href=) ?"([./][^"]+)"/g)) {
      reached.add(new URL(named, `http://localhost${url}`).pathname);
    }
  }
  assert.deepEqual([...reached].sort(), paths.sort());
});

test("the operators' listener has the console alone, and no page of the partners'", async (t) => {
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
