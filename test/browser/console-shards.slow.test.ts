// Depends on: docs, site, src, test/browser, CHANGELOG.md

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { createOrganization } from "../../src/actions/organizations.ts";
import { Shards } from "../../src/actions/shards.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { BUILT_SITE } from "../../src/http/docs/site.ts";
import { axeFindings } from "../support/axe.ts";
import { aBrowserAt, DESKTOP, skip } from "../support/browser.ts";
import { apartFromSignIn, signIn, visit } from "../support/console.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { startOperatorApi } from "../support/operator-api.ts";

/** The console of two shards. One was never reached. */
async function aServedConsoleOfTwo() {
  const { deps } = await createEngine(await createDatabase(), { clock: systemClock });
  await createOrganization(deps, { slug: "acme" });
  const all = [
    { name: "00", deps },
    { name: "01", deps: null },
  ] as const;
  const { app } = startOperatorApi({ after }, new Shards(all, deps), { pages: BUILT_SITE });
  return aBrowserAt(await app.listen({ host: "127.0.0.1", port: 0 }));
}

describe("the console with several shards", { skip }, async () => {
  const site = skip === false ? await aServedConsoleOfTwo() : undefined;

  test("names the shard that does not answer, and the shard of an organization", async (t) => {
    assert.ok(site);
    const { page, complaints } = await site.open(t, DESKTOP);
    await signIn(page, "#/organizations");
    await page.getByText("No answer from shard 01: its items are missing here.").waitFor();
    await page.getByRole("columnheader", { name: "Shard", exact: true }).waitFor();
    assert.match((await page.getByRole("row").last().textContent()) ?? "", /acme.*00$/);

    assert.deepEqual(await axeFindings(page), []);

    await page.getByRole("combobox", { name: "Search" }).fill("nothing-like-this");
    await page
      .getByText("Nothing was found. No answer from shard 01: there may be a match in it.")
      .waitFor();

    await page.getByRole("combobox", { name: "Search" }).fill("acme");
    await page.getByText("No answer from shard 01: there may be more matches in it.").waitFor();
    assert.deepEqual(await axeFindings(page), []);

    await visit(page, "#/organizations/acme");
    await page.getByText("in shard 00", { exact: true }).waitFor();
    await visit(page, "#/deliveries");
    await page.getByText("No answer from shard 01").waitFor();
    await visit(page, "#/");
    await page.getByText("shard 01: does not answer").waitFor();
    await page.getByText("No answer from shard 01: its items are missing here.").waitFor();
    assert.deepEqual(apartFromSignIn(complaints), []);
  });
});
