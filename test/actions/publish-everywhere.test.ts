import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dependencies } from "../../src/actions/dependencies.ts";
import type { NewEvent } from "../../src/domain/event.ts";
import { publishingEverywhere } from "../../src/actions/publish-everywhere.ts";
import { Shards } from "../../src/actions/shards.ts";
import { Busy, PartnerError } from "../../src/domain/errors.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";

const { deps } = await createEngine(await createDatabase({ max: 1 }));

/** Publishes one event in each of two shards, which fail with these errors. */
async function publishInTwo(errors: [unknown, unknown]): Promise<unknown> {
  const places = errors.map((error, i): Dependencies => {
    const row = { id: `${i}`, slug: `s${i}`, rateLimitPerMinute: 1, createdAt: new Date(0) };
    const batched: Dependencies["batched"] = {
      ...deps.batched,
      findOrganization: ({ slug }) => Promise.resolve(slug === row.slug ? row : null),
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- Each test names its error.
      publishAll: () => Promise.reject(error),
    };
    return { ...deps, batched };
  });
  const [one, other] = places;
  const all = [
    { name: "00", deps: one ?? deps },
    { name: "01", deps: other ?? deps },
  ] as const;
  const parts = publishingEverywhere(new Shards(all, deps)).batched;
  const events: NewEvent[] = [];
  for (const slug of ["s0", "s1"]) {
    const found = await parts.findOrganization({ id: null, slug });
    events.push({ organizationId: found?.id ?? "", type: "vc.test.ping", data: "{}" });
  }
  return parts.publishAll(events).then(
    () => assert.fail("it was published"),
    (error: unknown) => error,
  );
}

test("a lasting failure of one shard is reported instead of an outage of another, in either order", async () => {
  const lasting = new TypeError("a fault in the program");
  assert.equal(await publishInTwo([new Busy(), lasting]), lasting);
  assert.equal(await publishInTwo([lasting, new Busy()]), lasting);
});

test("an outage of a shard reports that a part is not published, and keeps its cause", async () => {
  const away = new Busy();
  const error = await publishInTwo([away, new Busy()]);
  assert.ok(error instanceof PartnerError);
  assert.match(error.message, /some events are not published/);
  assert.equal(error.cause, away);
});
