import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dependencies } from "../../src/actions/dependencies.ts";
import { OperatorApi } from "../../src/commands/operator-api.ts";
import { createCommandLine } from "../support/command-line.ts";

const ACME = {
  ...{ id: "org_1", slug: "acme", rate_limit_per_minute: 600 },
  created_at: "2026-01-01T00:00:00.000Z",
};

/** A command line whose service gives this answer. */
function commandLineWith(answer: object) {
  const api = new OperatorApi(() => Promise.resolve({ status: 200, text: JSON.stringify(answer) }));
  return createCommandLine({} as Dependencies, { withOperatorApi: (use) => use(api) });
}

test("a list names the shard of each organization, and the shard that did not answer", async () => {
  const page = { items: [{ ...ACME, shard: "00" }], next_cursor: null, unavailable_shards: ["01"] };
  const { stdout, stderr } = await commandLineWith(page).run("org", "list");
  assert.equal(
    stdout,
    "ID     SHARD  PER MINUTE  CREATED            SLUG\norg_1  00     600         2026-01-01 00:00Z  acme\n",
  );
  assert.equal(stderr, "No answer from shard 01: its items are missing.\n");
});

test("a new organization is shown with its shard", async () => {
  const { stdout } = await commandLineWith({ ...ACME, shard: "01" }).run("org", "create", "acme");
  assert.equal(stdout, "Organization acme (org_1, shard 01): 600 requests per minute.\n");
});

test("a command with --json prints only its document", async () => {
  const page = { items: [], next_cursor: null, unavailable_shards: ["01"] };
  const { stdout, stderr } = await commandLineWith(page).run("org", "list", "--json");
  assert.deepEqual([JSON.parse(stdout), stderr], [page, ""]);
});
