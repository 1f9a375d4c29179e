import assert from "node:assert/strict";
import { test } from "node:test";
import { publicId } from "../../src/lib/ids.ts";
import { createApiKey } from "../../src/subjects/keys/work.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createDatabase } from "../support/database.ts";
import { aSubscription, createEngine, publish, refused } from "../support/engine.ts";

const SLUG = "s".repeat(63);
const { deps, deliverDue } = await createEngine(await createDatabase());
const { run } = createCommandLine(deps);

const { id: organizationId } = await createOrganization(deps, { slug: SLUG });
const organization = publicId("org", organizationId);
const host = `${"h".repeat(60)}.${"e".repeat(60)}.example`;
await aSubscription(deps, organizationId, `https://${host}/${"p".repeat(1_000)}`);
await createApiKey(deps, { organization, label: "l".repeat(200), scopes: ["webhooks:manage"] });
const [event = ""] = await publish(deps, organizationId);
await deliverDue(() => refused);

for (const list of [
  ["org", "list"],
  ["key", "list"],
  ["subscription", "list"],
  ["delivery", "list"],
  ["event", "types"],
  ["event", "show", publicId("evt", event)],
]) {
  test(`no line of ${list.slice(0, 2).join(" ")} is wider than 120 columns`, async () => {
    const { status, stdout } = await run(...list);
    assert.equal(status, 0);
    for (const line of stdout.split("\n")) assert.ok(line.length <= 120, line);
  });
}

test("a name that is cut in a list stands below in full", async () => {
  const { stdout } = await run("org", "list");
  assert.ok(stdout.includes(`\n  ${SLUG}\n`));
});

test("lists of keys and subscriptions name the organization by its slug", async () => {
  for (const list of ["key", "subscription"]) {
    const { stdout } = await run(list, "list");
    assert.match(stdout, /\n {2}s{29}/);
    assert.ok(!stdout.includes(organization));
  }
});

test("states are coloured on a terminal", async () => {
  const onTerminal = createCommandLine(deps, { isTerminal: true });
  const shown = async (...argv: string[]) => (await onTerminal.run(...argv)).stdout;
  assert.ok((await shown("subscription", "list")).includes("\u001b[32mactive\u001b[39m"));
  const [delivery = ""] = /dlv_[0-9a-f-]+/.exec(await shown("delivery", "list")) ?? [];
  const detail = await shown("delivery", "show", delivery);
  assert.ok(detail.includes("  \u001b[2mwaiting\u001b[22m\n"), detail);
  assert.ok(detail.includes("  \u001b[31mhttp_503\u001b[39m"), detail);
});
