import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "../../../src/lib/page.ts";
import type { OrganizationView } from "../../../src/subjects/organizations/work.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const { deps } = await createEngine(await createDatabase());
const { ask } = startOperatorApi({ after }, deps);
const create = (body: unknown) => ({ method: "POST", url: "organizations", body }) as const;

interface Problem {
  status: number;
  code: string;
  errors?: { pointer: string; detail: string }[];
}

test("an organization is created with its limit or the default, and the operator is logged", async (t) => {
  const { ask, logged } = startOperatorApi(t, deps);
  const made = await ask(create({ slug: "acme", unknown: true }));
  assert.equal(made.status, 201);
  const { id, ...rest } = made.body as OrganizationView;
  assert.match(id, /^org_[0-9a-f-]{36}$/);
  assert.deepEqual(rest, {
    slug: "acme",
    rate_limit_per_minute: 600,
    created_at: "2026-01-01T00:00:00.000Z",
  });
  const other = await ask(create({ slug: "globex", rate_limit_per_minute: 1_000_000 }));
  assert.equal((other.body as OrganizationView).rate_limit_per_minute, 1_000_000);

  const change = logged.find((line) => line["action"] !== undefined);
  assert.deepEqual(
    [change?.["operator"], change?.["action"], change?.["subject"]],
    ["alice", "create_organization", id],
  );
});

test("of simultaneous requests for a slug one succeeds", async () => {
  const answers = await Promise.all([1, 2, 3].map(() => ask(create({ slug: "wanted" }))));
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, 409, 409]);
  const refused = answers.find((answer) => answer.status === 409);
  assert.equal((refused?.body as Problem).code, "slug_taken");
});

test("a limit is changed by id or by slug", async (t) => {
  const { ask, subjectsOf } = startOperatorApi(t, deps);
  const made = (await ask(create({ slug: "initech" }))).body as OrganizationView;
  for (const [name, limit] of [
    ["initech", 1],
    [made.id, 1200],
  ] as const) {
    const body = { rate_limit_per_minute: limit };
    const changed = await ask({ method: "PATCH", url: `organizations/${name}`, body });
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.body, { ...made, rate_limit_per_minute: limit });
  }
  assert.equal(subjectsOf("set_rate_limit").length, 2);
});

test("an unknown organization is 404, by id and by slug", async () => {
  const body = { rate_limit_per_minute: 10 };
  for (const name of ["nobody", "org_x", "%00", "Acme", "a'b", "x".repeat(5000)]) {
    const { status } = await ask({ method: "PATCH", url: `organizations/${name}`, body });
    assert.equal(status, 404, name);
  }
});

const wrong = [
  [{}, ["/slug"]],
  [{ slug: "a" }, ["/slug"]],
  [{ slug: "Acme" }, ["/slug"]],
  [{ slug: "-acme" }, ["/slug"]],
  [{ slug: "acme\n" }, ["/slug"]],
  [{ slug: "a".repeat(64) }, ["/slug"]],
  [{ slug: 1, rate_limit_per_minute: 0 }, ["/rate_limit_per_minute", "/slug"]],
  [{ slug: "A!", rate_limit_per_minute: 0 }, ["/rate_limit_per_minute", "/slug"]],
  [{ slug: "fine", rate_limit_per_minute: 1_000_001 }, ["/rate_limit_per_minute"]],
  [{ slug: "fine", rate_limit_per_minute: 1.5 }, ["/rate_limit_per_minute"]],
  [{ slug: "fine", rate_limit_per_minute: "10" }, ["/rate_limit_per_minute"]],
  [[], [""]],
] as const;

test("a body of another shape is 422, and every fault in it is named", async () => {
  for (const [body, pointers] of wrong) {
    const answer = await ask(create(body));
    assert.equal(answer.status, 422, JSON.stringify(body));
    const { code, errors = [] } = answer.body as Problem;
    assert.equal(code, "invalid_request");
    assert.deepEqual(column(errors, "pointer"), pointers);
  }
});

test("the list is read page by page to its end, in order of slug", async () => {
  for (let i = 0; i < 5; i++) await ask(create({ slug: `page-${i}` }));

  const slugs: string[] = [];
  let query = "?limit=2";
  for (;;) {
    const { status, body } = await ask({ url: `organizations${query}` });
    assert.equal(status, 200);
    const { items, next_cursor } = body as Page<OrganizationView>;
    slugs.push(...items.map((item) => item.slug));
    if (next_cursor === null) break;
    assert.equal(items.length, 2);
    query = `?limit=2&cursor=${next_cursor}`;
  }
  assert.deepEqual(slugs, slugs.toSorted());
  assert.equal(new Set(slugs).size, slugs.length);
  const all = (await ask({ url: "organizations" })).body as Page<OrganizationView>;
  assert.deepEqual(
    slugs,
    all.items.map((item) => item.slug),
  );
});

test("a page has 50 items by default and at most 200", async () => {
  const { db } = deps;
  await db`
    insert into organizations (id, slug, rate_limit_per_minute, created_at)
    select gen_random_uuid(), 'many-' || n, 1, ${deps.clock()} from generate_series(1, 220) as n`;
  const sizeOf = async (query: string) =>
    ((await ask({ url: `organizations${query}` })).body as Page<unknown>).items.length;
  assert.equal(await sizeOf(""), 50);
  assert.equal(await sizeOf("?limit=1"), 1);
  assert.equal(await sizeOf("?limit=200"), 200);

  for (const query of [
    "limit=0",
    "limit=201",
    "limit=ten",
    "limit=1.5",
    "limit=",
    "limit=1&limit=2",
  ]) {
    const { status, body } = await ask({ url: `organizations?${query}` });
    assert.equal(status, 422, query);
    assert.deepEqual((body as Problem).errors, [
      { pointer: "/limit", detail: "must be an integer from 1 to 200" },
    ]);
  }
});
