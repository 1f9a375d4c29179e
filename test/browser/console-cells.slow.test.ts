// Depends on: docs, site, src, test/browser, CHANGELOG.md

import assert from "node:assert/strict";
import { test } from "node:test";
import { axeFindings } from "../support/axe.ts";
import { aBrowserAt, DESKTOP, skip } from "../support/browser.ts";
import { apartFromSignIn, signIn, visit } from "../support/console.ts";
import { aGateway } from "../support/gateway.ts";
import { ADMIN_TOKEN } from "../support/program.ts";

test(
  "the console of a gateway names the cell that does not answer, and the cell of an organization",
  { skip },
  async (t) => {
    const { operatorUrl, partnerIn, cell } = await aGateway(t, ["00", "01"]);
    await partnerIn("00", "acme");
    await partnerIn("01", "other");
    const site = await aBrowserAt(operatorUrl);
    const { page, complaints } = await site.open(t, DESKTOP);
    await signIn(page, "#/organizations/other", ADMIN_TOKEN);
    await page.getByText("in cell 01", { exact: true }).waitFor();

    await visit(page, "#/events"); // A page that reads nothing of that cell.
    await cell("01").gate.close();
    await visit(page, "#/organizations");
    await page.getByText("No answer from cell 01: its items are missing here.").waitFor();
    await page.getByRole("columnheader", { name: "Cell", exact: true }).waitFor();
    assert.match((await page.getByRole("row").last().textContent()) ?? "", /acme.*00$/);
    assert.deepEqual(await axeFindings(page), []);

    await page.getByRole("combobox", { name: "Search" }).fill("nothing-like-this");
    await page
      .getByText("Nothing was found. No answer from cell 01: there may be a match in it.")
      .waitFor();

    await page.getByRole("combobox", { name: "Search" }).fill("acme");
    await page.getByText("No answer from cell 01: there may be more matches in it.").waitFor();
    assert.deepEqual(await axeFindings(page), []);

    await visit(page, "#/organizations/acme");
    await page.getByText("in cell 00", { exact: true }).waitFor();
    await visit(page, "#/deliveries");
    await page.getByText("No answer from cell 01").waitFor();
    await visit(page, "#/");
    await page.getByText("cell 01: does not answer").waitFor();
    await page.getByText("No answer from cell 01: its items are missing here.").waitFor();
    // What was being read when the cell ended got a 503.
    const others = complaints.filter((text) => !text.includes("status of 503"));
    assert.deepEqual(apartFromSignIn(others), []);
  },
);
