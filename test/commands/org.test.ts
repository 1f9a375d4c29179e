import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationView } from "../../src/actions/views/organization.ts";
import { encodeCursor, type Page } from "../../src/domain/page.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";

const { deps } = await createEngine(await createDatabase());
const { run, json } = createCommandLine(deps);

test("a list without organizations says so in a sentence", async () => {
  assert.deepEqual(await run("org", "list"), {
    status: 0,
    stdout: "There are no organizations yet.\n",
    stderr: "",
  });
  assert.deepEqual(await json("org", "list"), { items: [], next_cursor: null });
});

test("an organization is made with 600 requests a minute, or with as many as it is given", async () => {
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
  assert.match(stdout, /^Organization globex \(org_[0-9a-f-]{36}\) has 50 requests a minute\.\n$/);
});

test("a limit is changed by slug or by id", async () => {
  const bySlug = await json<OrganizationView>("org", "set-limit", "acme", "1000000");
  assert.equal(bySlug.rate_limit_per_minute, 1_000_000);
  const byId = await json<OrganizationView>("org", "set-limit", bySlug.id, "1");
  assert.equal(byId.rate_limit_per_minute, 1);
});

test("a list is a table of plain text, in order of slug", async () => {
  const { stdout } = await run("org", "list");
  const [head = "", ...lines] = stdout.trimEnd().split("\n");
  assert.equal(head.replace(/ +/g, " "), "ID PER MINUTE CREATED SLUG");
  assert.deepEqual(
    lines.map((line) => line.slice(head.indexOf("PER"))),
    ["1           2026-01-01 00:00Z  acme", "50          2026-01-01 00:00Z  globex"],
  );
});

test("a list goes on where the page before ended", async () => {
  const first = await json<Page<OrganizationView>>("org", "list", "--limit", "1");
  assert.deepEqual(
    first.items.map((item) => item.slug),
    ["acme"],
  );
  const cursor = first.next_cursor ?? "";
  const second = await json<Page<OrganizationView>>("org", "list", "--cursor", cursor);
  assert.deepEqual(
    second.items.map((item) => item.slug),
    ["globex"],
  );
  assert.equal(second.next_cursor, null);

  const { stdout, stderr } = await run("org", "list", "--limit", "1");
  assert.equal(stdout.trimEnd().split("\n").length, 2);
  assert.equal(stderr, `There are more: add --cursor ${cursor}\n`);
});

const refusals = [
  ["a slug that is taken", ["create", "acme"], "error: An organization has this slug already.\n"],
  [
    "a slug and a limit that are none, both named at once",
    ["create", "Acme!", "--rate-limit", "many"],
    "error: The request does not have the expected shape.\n" +
      "  slug: must be 2 to 63 of a-z, 0-9 and -, starting with a letter or a digit\n" +
      "  rate_limit_per_minute: must be an integer from 1 to 1000000\n",
  ],
  [
    "a limit of nothing",
    ["set-limit", "acme", "0"],
    "error: The request does not have the expected shape.\n" +
      "  rate_limit_per_minute: must be an integer from 1 to 1000000\n",
  ],
  [
    "a limit that is not written in digits",
    ["set-limit", "acme", "1e3"],
    "error: The request does not have the expected shape.\n" +
      "  rate_limit_per_minute: must be an integer from 1 to 1000000\n",
  ],
  [
    "an organization that does not exist",
    ["set-limit", "nobody", "10"],
    "error: There is no such organization.\n",
  ],
  [
    "an overlong page",
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
