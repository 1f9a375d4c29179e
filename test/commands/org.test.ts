import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeCursor, type Page } from "../../src/lib/page.ts";
import type { OrganizationView } from "../../src/subjects/organizations/work.ts";
import { column } from "../support/columns.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createDatabase } from "../support/database.ts";
import { aSubscription, createEngine } from "../support/engine.ts";

const { deps } = await createEngine(await createDatabase());
const { run, json } = createCommandLine(deps);

test("an empty list of organizations is a sentence", async () => {
  assert.deepEqual(await run("org", "list"), {
    status: 0,
    stdout: "There are no organizations yet.\n",
    stderr: "",
  });
  assert.deepEqual(await json("org", "list"), { items: [], next_cursor: null });
});

test("an organization gets 600 requests per minute or the given limit", async () => {
  const acme = await json<OrganizationView>("org", "create", "acme");
  assert.match(acme.id, /^org_[0-9a-f-]{36}$/);
  assert.deepEqual(acme, {
    id: acme.id,
    slug: "acme",
    rate_limit_per_minute: 600,
    created_at: "2026-01-01T00:00:00.000Z",
  });

  const { status, stdout } = await run("org", "create", "globex", "--rate-limit", "50");
  assert.equal(status, 0);
  assert.match(stdout, /^Organization globex \(org_[0-9a-f-]{36}\): 50 requests per minute\.\n$/);
});

test("a limit is changed by slug or id", async () => {
  const bySlug = await json<OrganizationView>("org", "set-limit", "acme", "1000000");
  assert.equal(bySlug.rate_limit_per_minute, 1_000_000);
  const byId = await json<OrganizationView>("org", "set-limit", bySlug.id, "1");
  assert.equal(byId.rate_limit_per_minute, 1);
});

test("a list is a plain text table, ordered by slug", async () => {
  const { stdout } = await run("org", "list");
  const [head = "", ...lines] = stdout.trimEnd().split("\n");
  assert.equal(head.replace(/ +/g, " "), "ID PER MINUTE CREATED SLUG");
  assert.deepEqual(
    lines.map((line) => line.slice(head.indexOf("PER"))),
    ["1           2026-01-01 00:00Z  acme", "50          2026-01-01 00:00Z  globex"],
  );
});

test("pages continue where the previous one ended", async () => {
  const first = await json<Page<OrganizationView>>("org", "list", "--limit", "1");
  assert.deepEqual(column(first.items, "slug"), ["acme"]);
  const cursor = first.next_cursor ?? "";
  const second = await json<Page<OrganizationView>>("org", "list", "--cursor", cursor);
  assert.deepEqual(column(second.items, "slug"), ["globex"]);
  assert.equal(second.next_cursor, null);

  const { stdout, stderr } = await run("org", "list", "--limit", "1");
  assert.equal(stdout.trimEnd().split("\n").length, 2);
  assert.equal(stderr, `More results: add --cursor ${cursor}\n`);
});

const refusals = [
  ["a slug that is taken", ["create", "acme"], "error: An organization has this slug already.\n"],
  [
    "an invalid slug and limit, both listed",
    ["create", "Acme!", "--rate-limit", "many"],
    "error: The request does not have the expected shape.\n" +
      "  rate_limit_per_minute: must be an integer. Requests a minute, from 1 to 1000000; 600 for a new organization.\n" +
      "  slug: must match the pattern ^[a-z0-9][a-z0-9-]{1,62}$. 2 to 63 characters of a-z, 0-9 and -, starting with a letter or a digit.\n",
  ],
  [
    "a limit of 0",
    ["set-limit", "acme", "0"],
    "error: The request does not have the expected shape.\n" +
      "  rate_limit_per_minute: must be at least 1. Requests a minute, from 1 to 1000000; 600 for a new organization.\n",
  ],
  [
    "a limit that is not a number",
    ["set-limit", "acme", "1e3"],
    "error: The request does not have the expected shape.\n" +
      "  rate_limit_per_minute: must be an integer. Requests a minute, from 1 to 1000000; 600 for a new organization.\n",
  ],
  [
    "an organization that does not exist",
    ["set-limit", "nobody", "10"],
    "error: There is no such organization.\n",
  ],
  [
    "a page limit over the maximum",
    ["list", "--limit", "201"],
    "error: The request does not have the expected shape.\n" +
      "  limit: must be an integer from 1 to 200\n",
  ],
  [
    "a cursor of another list",
    ["list", "--cursor", encodeCursor("keys", "acme")],
    "error: The request does not have the expected shape.\n" +
      "  cursor: must be the next_cursor of a page of this list\n",
  ],
] as const;

for (const [what, argv, stderr] of refusals) {
  test(`refuses ${what}, in words and with status 1`, async () => {
    assert.deepEqual(await run("org", ...argv), { status: 1, stdout: "", stderr });
  });
}

test("closing an organization needs no confirmation and can be repeated", async () => {
  const { id } = await json<OrganizationView>("org", "create", "closing");
  await json("key", "create", "--organization", "closing");
  await aSubscription(deps, id.slice("org_".length));
  const closed = { status: 0, stdout: "Organization closing is closed.\n", stderr: "" };
  assert.deepEqual(await run("org", "close", "closing"), closed);
  assert.deepEqual(await run("org", "close", "closing"), closed);
  const { status, stderr } = await run("org", "close", "nobody");
  assert.equal(status, 1);
  assert.match(stderr, /There is no such organization/);
});
