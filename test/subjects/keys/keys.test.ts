import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { publicId } from "../../../src/lib/ids.ts";
import type { Page } from "../../../src/lib/page.ts";
import { admit } from "../../../src/subjects/keys/admission.ts";
import { RESERVED_SCOPES } from "../../../src/subjects/keys/rules.ts";
import type { ApiKeyView, IssuedKeyView } from "../../../src/subjects/keys/work.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const { deps, clock } = await createEngine(await createDatabase());
const { ask } = startOperatorApi({ after }, deps);
const create = (body: unknown) => ({ method: "POST", url: "keys", body }) as const;
let acme = "";

before(async () => {
  acme = publicId("org", (await createOrganization(deps, { slug: "acme" })).id);
});

test("a key is created by id or slug; its token works and is shown only once", async (t) => {
  const { ask, logged } = startOperatorApi(t, deps);
  for (const organization of ["acme", acme]) {
    const { status, body } = await ask(
      create({ organization, scopes: ["webhooks:manage"], label: "production" }),
    );
    assert.equal(status, 201);
    const { token, key_id, ...rest } = body as IssuedKeyView;
    assert.match(token, new RegExp(`^vck_${key_id}\\.[A-Za-z0-9_-]{43}$`));
    assert.deepEqual(rest, {
      organization_id: acme,
      scopes: ["identity:read", "webhooks:manage"],
      label: "production",
      created_at: clock().toISOString(),
    });
    const { caller } = await admit(deps, `Bearer ${token}`);
    assert.equal(caller.keyId, key_id);

    const list = await ask({ url: "keys" });
    assert.equal(list.text.includes(token.split(".")[1] ?? ""), false);
    assert.deepEqual(Object.keys((list.body as Page<ApiKeyView>).items[0] ?? {}).sort(), [
      ...["created_at", "key_id", "label", "last_used_at"],
      ...["organization", "organization_id", "revoked_at", "scopes"],
    ]);
    assert.equal(logged.at(-3)?.["subject"], key_id);
  }
});

test("identity:read is added to every key, even without scopes", async () => {
  for (const scopes of [undefined, [], ["identity:read"]]) {
    const { body } = await ask(create({ organization: "acme", scopes, label: null }));
    assert.deepEqual((body as IssuedKeyView).scopes, ["identity:read"]);
  }
});

test("a reserved or unknown scope is 422, and every one of them is named", async () => {
  const refusal = async (...scopes: string[]) => {
    const { status, body } = await ask(create({ organization: "acme", scopes }));
    assert.equal(status, 422);
    return body as { code: string; errors: { pointer: string; detail: string }[] };
  };
  for (const scope of RESERVED_SCOPES) {
    assert.equal((await refusal(scope)).code, "reserved_scope");
  }
  assert.equal((await refusal("everything")).code, "unknown_scope");

  const { errors } = await refusal("leads:read", "webhooks:manage", "everything", "leads:write");
  assert.deepEqual(errors, [
    { pointer: "/scopes/0", detail: "is reserved and cannot be granted yet" },
    { pointer: "/scopes/2", detail: "must be one of identity:read, webhooks:manage" },
    { pointer: "/scopes/3", detail: "is reserved and cannot be granted yet" },
  ]);
});

test("an unknown organization is 404, but only if the rest is valid", async () => {
  for (const organization of ["nobody", "org_x", "\u0000", ""]) {
    assert.equal((await ask(create({ organization }))).status, 404);
  }
  assert.equal((await ask(create({ organization: "nobody", scopes: ["x"] }))).status, 422);
});

/** Unicode's characters that reverse the text after them. */
const BIDI_CONTROLS = ["\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d"].concat(
  ["\u202e", "\u2066", "\u2067", "\u2068", "\u2069"],
);

test("a body of another shape is 422, and every fault in it is named", async () => {
  const { status, body } = await ask(create({ scopes: [1], label: "\u0000" }));
  assert.equal(status, 422);
  const { errors } = body as { errors: { pointer: string }[] };
  assert.deepEqual(column(errors, "pointer"), ["/label", "/organization", "/scopes/0"]);
  const unfit = ["", "x".repeat(201), "two\nlines", "half a pair \ud800", 7];
  for (const label of [...unfit, ...BIDI_CONTROLS.map((control) => `a${control}b`)]) {
    const sent = JSON.stringify(label);
    assert.equal((await ask(create({ organization: "acme", label }))).status, 422, sent);
  }
  const longest = "\u{1f511}".repeat(200);
  assert.equal((await ask(create({ organization: "acme", label: longest }))).status, 201);
});

test("a revoked key is refused at once; revoking again succeeds, and an unknown key is 404", async (t) => {
  const { ask, subjectsOf } = startOperatorApi(t, deps);
  const { key_id, token } = (await ask(create({ organization: "acme" }))).body as IssuedKeyView;
  const revoke = (id: string) => ask({ method: "DELETE", url: `keys/${id}` });

  const revoked = clock().toISOString();
  const { status, text } = await revoke(key_id);
  assert.deepEqual([status, text], [204, ""]);
  await assert.rejects(admit(deps, token), { code: "unauthenticated" });
  assert.deepEqual(subjectsOf("revoke_key"), [key_id]);

  clock.advance(1000);
  assert.equal((await revoke(`vck_${key_id}`)).status, 204);
  const { items } = (await ask({ url: "keys?include_revoked=true" })).body as Page<ApiKeyView>;
  assert.equal(items.find((item) => item.key_id === key_id)?.revoked_at, revoked);

  for (const id of ["0".repeat(20), "x", "%00", encodeURIComponent(token)]) {
    assert.equal((await revoke(id)).status, 404, id);
  }
});

test("keys of one organization are listed newest first, with revoked ones only on request", async () => {
  await ask({ method: "POST", url: "organizations", body: { slug: "globex" } });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    // Two of each kind with the same time, so that a page ends between them.
    if (i % 2 === 0) clock.advance(1000);
    ids.unshift(((await ask(create({ organization: "globex" }))).body as IssuedKeyView).key_id);
  }
  await ask({ method: "DELETE", url: `keys/${ids[1] ?? ""}` });

  const read = async (query: string) => {
    const found: ApiKeyView[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { status, body } = await ask({
        url: `keys?limit=2&${query}&cursor=${cursor}`.replace(/&cursor=$/, ""),
      });
      assert.equal(status, 200);
      const page = body as Page<ApiKeyView>;
      found.push(...page.items);
      cursor = page.next_cursor;
    }
    const times = found.map((key) => key.created_at);
    assert.deepEqual(times, times.toSorted().reverse());
    return found.map((key) => key.key_id);
  };
  const all = await read("organization=globex&include_revoked=true");
  assert.deepEqual(all.toSorted(), ids.toSorted());
  const active = await read("organization=globex");
  assert.deepEqual(
    active,
    all.filter((id) => id !== ids[1]),
  );
  assert.ok((await read("include_revoked=false")).length > active.length);

  assert.equal((await ask({ url: "keys?organization=nobody" })).status, 404);
  const { status, body } = await ask({ url: "keys?include_revoked=yes&limit=0&cursor=x" });
  assert.equal(status, 422);
  assert.equal((body as { errors: unknown[] }).errors.length, 3);
});

test("a list query with two organizations or an empty one is refused", async () => {
  for (const list of ["keys", "subscriptions", "deliveries"]) {
    for (const query of ["organization=acme&organization=globex", "organization="]) {
      const { status, body } = await ask({ url: `${list}?${query}` });
      assert.equal(status, 422, `${list}?${query}`);
      assert.deepEqual(
        (body as { errors: { pointer: string }[] }).errors[0]?.pointer,
        "/organization",
      );
    }
  }
});
