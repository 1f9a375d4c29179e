import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "../../src/lib/page.ts";
import { admit, recordKeysUsed } from "../../src/subjects/keys/admission.ts";
import { LABEL } from "../../src/subjects/keys/rules.ts";
import type { ApiKeyView, IssuedKeyView } from "../../src/subjects/keys/work.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";

const { deps, clock } = await createEngine(await createDatabase());
const { run, json } = createCommandLine(deps);
const TOKEN = /^vck_([0-9a-z]{20})\.[A-Za-z0-9_-]{43}$/;

await createOrganization(deps, { slug: "acme" });
await createOrganization(deps, { slug: "globex" });

test("standard output is only the new key's token, which works", async () => {
  const { status, stdout, stderr } = await run(
    ...["key", "create", "--organization", "acme", "--scope", "webhooks:manage"],
  );
  assert.equal(status, 0);
  const [, keyId = ""] = TOKEN.exec(stdout.trimEnd()) ?? [];
  assert.equal(
    stderr,
    `Token of key ${keyId} (identity:read, webhooks:manage).\n` +
      "It is shown only once and cannot be recovered: store it with your secrets.\n",
  );

  const { caller } = await admit(deps, `Bearer ${stdout.trimEnd()}`);
  assert.equal(caller.slug, "acme");
  assert.deepEqual(caller.scopes, ["identity:read", "webhooks:manage"]);
});

test("with --json, a new key is one document with its token and no other output", async () => {
  const { stdout, stderr } = await run(
    ...["key", "create", "--organization", "globex", "--label", "tests", "--json"],
  );
  const { token, organization_id, ...key } = JSON.parse(stdout) as IssuedKeyView;
  assert.match(token, TOKEN);
  assert.match(organization_id, /^org_/);
  assert.deepEqual(key, {
    key_id: TOKEN.exec(token)?.[1],
    scopes: ["identity:read"],
    label: "tests",
    created_at: "2026-01-01T00:00:00.000Z",
  });
  assert.equal(stderr, "");
});

test("the list shows keys of one or all organizations, without tokens", async () => {
  clock.advance(60_000);
  const token = (await run("key", "create", "--organization", "globex")).stdout.trimEnd();
  await admit(deps, token);
  await recordKeysUsed(deps);

  const all = await json<Page<ApiKeyView>>("key", "list");
  assert.equal(all.items.length, 3);
  const [newest, older] = (await json<Page<ApiKeyView>>("key", "list", "--organization", "globex"))
    .items;
  assert.equal(older?.label, "tests");
  assert.deepEqual(newest, {
    key_id: TOKEN.exec(token)?.[1],
    organization_id: newest?.organization_id,
    organization: { id: newest?.organization_id, slug: "globex" },
    scopes: ["identity:read"],
    label: null,
    created_at: "2026-01-01T00:01:00.000Z",
    last_used_at: "2026-01-01T00:01:00.000Z",
    revoked_at: null,
  });

  const { stdout } = await run("key", "list", "--organization", "globex");
  const [head = "", ...lines] = stdout.trimEnd().split("\n");
  assert.match(head, /^KEY ID {2,}CREATED {2,}LAST USED {2,}REVOKED {2,}LABEL$/);
  assert.deepEqual(lines, [
    `${newest.key_id}  2026-01-01 00:01Z  2026-01-01 00:01Z  -        -`,
    "  globex  identity:read",
    `${older.key_id}  2026-01-01 00:00Z  -                  -        tests`,
    "  globex  identity:read",
  ]);
});

test("a revoked key is refused, and is listed only on request", async () => {
  const token = (await run("key", "create", "--organization", "acme")).stdout.trimEnd();
  const keyId = TOKEN.exec(token)?.[1] ?? "";
  assert.deepEqual(await run("key", "revoke", keyId), {
    status: 0,
    stdout: `Key ${keyId} is revoked.\n`,
    stderr: "",
  });
  await assert.rejects(admit(deps, token), { code: "unauthenticated" });

  const ids = async (...options: string[]) =>
    (await json<Page<ApiKeyView>>("key", "list", ...options)).items.map((item) => item.key_id);
  assert.equal((await ids()).includes(keyId), false);
  assert.equal((await ids("--include-revoked")).includes(keyId), true);
  assert.deepEqual(await json("key", "revoke", `vck_${keyId}`), {});
});

test("revoking a whole token is explained, without repeating it", async () => {
  const token = (await run("key", "create", "--organization", "acme")).stdout.trimEnd();
  const { status, stdout, stderr } = await run("key", "revoke", token);
  assert.equal(status, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /^error: this is a whole token\. Give only the key id/);
  assert.equal(stderr.includes(token.split(".")[1] ?? ""), false);
  await admit(deps, token);
});

const LABEL_REFUSED =
  "error: The request does not have the expected shape.\n" +
  `  label: must match the pattern ${LABEL.source}. A name for operators: ` +
  "1 to 200 characters, none of them a control or bidirectional character.\n";

const refusals = [
  [
    "reserved and unknown scopes, all listed",
    ["create", "--organization", "acme", "--scope", "leads:read", "--scope", "everything"],
    "error: Unknown scope.\n" +
      "  scopes/0: is reserved and cannot be granted yet\n" +
      "  scopes/1: must be one of identity:read, webhooks:manage\n",
  ],
  [
    "an organization that does not exist",
    ["create", "--organization", "nobody"],
    "error: There is no such organization.\n",
  ],
  [
    "a label with a control character",
    ["create", "--organization", "acme", "--label", "\u001b[2J"],
    LABEL_REFUSED,
  ],
  ["an empty label", ["create", "--organization", "acme", "--label", ""], LABEL_REFUSED],
  [
    "a label that turns the line round",
    ["create", "--organization", "acme", "--label", "a\u202eb"],
    LABEL_REFUSED,
  ],
  ["a key that does not exist", ["revoke", "0".repeat(20)], "error: There is no such key.\n"],
  ["an invalid key id", ["revoke", "vck_"], "error: There is no such key.\n"],
] as const;

for (const [what, argv, stderr] of refusals) {
  test(`refuses ${what}`, async () => {
    assert.deepEqual(await run("key", ...argv), { status: 1, stdout: "", stderr });
  });
}
