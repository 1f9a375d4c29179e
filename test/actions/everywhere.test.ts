import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import { recordChanges } from "../../src/actions/changes.ts";
import type { Dependencies } from "../../src/actions/dependencies.ts";
import { anywhere, everywhere, findAnywhere, somewhere } from "../../src/actions/everywhere.ts";
import { placeOrganization } from "../../src/actions/place-organization.ts";
import { viewProcesses } from "../../src/actions/processes.ts";
import { Shards } from "../../src/actions/shards.ts";
import { PartnerError } from "../../src/domain/errors.ts";
import { silence } from "../../src/postgres/driver/failure.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";

const { deps } = await createEngine(await createDatabase({ max: 1 }));

/** Two shards whose databases can be frozen, with a clock that the test moves. */
function twoShards(t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const frozen = new Set<string>();
  const failures: unknown[] = [];
  const away = () => silence(1_000);
  const shardOf = (name: string) => {
    const ask = () => (frozen.has(name) ? Promise.reject(away()) : Promise.resolve([]));
    const db = Object.assign(ask, { probing: () => db }) as unknown as Dependencies["db"];
    const noteFailure = (error: unknown) => void failures.push(error);
    return { name, deps: { ...deps, db, shard: name }, noteFailure };
  };
  const shards = new Shards([shardOf("00"), shardOf("01")], deps);
  /** Work that a frozen database never ends. */
  const asked: string[] = [];
  const read = ({ shard }: Dependencies): Promise<string> => {
    asked.push(shard);
    return frozen.has(shard) ? new Promise(() => undefined) : Promise.resolve(shard);
  };
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    await turn();
  };
  return { shards, frozen, failures, asked, read, pass };
}

test("a frozen shard delays one answer only, and is asked again after a probe has succeeded", async (t) => {
  const { shards, frozen, asked, read, pass } = twoShards(t);
  frozen.add("01");
  const first = everywhere(shards, read);
  await pass(1_000);
  assert.deepEqual(await first, { values: ["00"], away: ["01"] });
  assert.deepEqual(await everywhere(shards, read), { values: ["00"], away: ["01"] });
  assert.deepEqual(asked, ["00", "01", "00"]);

  await pass(5_000);
  assert.deepEqual(await everywhere(shards, read), { values: ["00"], away: ["01"] });
  frozen.delete("01");
  await pass(1_000);
  assert.deepEqual(await everywhere(shards, read), { values: ["00", "01"], away: [] });
});

test("the list of processes names a shard that does not answer", async (t) => {
  const { shards, frozen } = twoShards(t);
  assert.deepEqual(await viewProcesses(shards), { items: [] });
  frozen.add("01");
  assert.deepEqual(await viewProcesses(shards), { items: [], unavailable_shards: ["01"] });
});

test("a slow read of a shard that answers probes is not an outage", async (t) => {
  const { shards, failures, pass } = twoShards(t);
  let end: (found: string) => void = () => undefined;
  const slow = new Promise<string>((resolve) => (end = resolve));
  const all = everywhere(shards, ({ shard }) => (shard === "01" ? slow : Promise.resolve(shard)));
  for (let i = 0; i < 20; i++) await pass(1_000);
  end("late");
  assert.deepEqual(await all, { values: ["00", "late"], away: [] });
  assert.deepEqual(failures, []);
});

test("a look-up by a bare id ends although a shard is frozen, and its error names the shard", async (t) => {
  const { shards, frozen, read, pass } = twoShards(t);
  frozen.add("01");
  const found = findAnywhere(shards, async (at) => {
    await read(at);
    throw new PartnerError("not_found", "There is none.");
  });
  const refused = assert.rejects(found, {
    code: "unavailable",
    message: "No answer from shard 01. Try again.",
  });
  await pass(1_000);
  await refused;
});

test("a read that any shard can serve skips a silent shard", async (t) => {
  const { shards, frozen, asked, read, pass } = twoShards(t);
  frozen.add("00");
  const first = everywhere(shards, read);
  await pass(1_000);
  await first;
  assert.equal(await somewhere(shards, read), "01");
  assert.deepEqual(asked, ["00", "01", "01"]);
});

/** Finds a thing in this shard only. */
function isIn(shard: string) {
  return (deps: Dependencies) => Promise.resolve(deps.shard === shard ? "found" : null);
}

test("a change is tried in the shard that has the thing, and nowhere else", async (t) => {
  const { shards, asked, read } = twoShards(t);
  assert.equal(await anywhere(shards, isIn("01"), read), "01");
  assert.deepEqual(asked, ["01"]);
});

test("a change of a thing that no shard has is refused by the home shard", async (t) => {
  const { shards, asked, read } = twoShards(t);
  assert.equal(await anywhere(shards, isIn("02"), read), "00");
  assert.deepEqual(asked, ["00"]);
});

test("no change begins while a frozen shard may have the thing", async (t) => {
  const { shards, frozen, asked, read, pass } = twoShards(t);
  frozen.add("01");
  const find = ({ shard }: Dependencies) =>
    shard === "01" ? new Promise(() => undefined) : Promise.resolve(null);
  const refused = assert.rejects(anywhere(shards, find, read), {
    code: "unavailable",
    message: "No answer from shard 01. Try again.",
  });
  await pass(1_000);
  await refused;
  assert.deepEqual(asked, []);
});

test("a change whose answer is lost is recorded under the same id by the next shard", async (t) => {
  const { shards } = twoShards(t);
  const written = new Map<string, unknown>();
  for (const { name, deps: own } of shards.all) {
    const db = (_: TemplateStringsArray, ...values: unknown[]) => {
      written.set(name, values);
      return name === "00" ? Promise.reject(silence(1_000)) : Promise.resolve([]);
    };
    Object.assign(own ?? {}, { db });
  }
  const facts = { operator: "carol", via: "api", remote: "::1", requestId: "r" } as const;
  await recordChanges(shards, [{ ...facts, action: "create_key", subject: "vck_1" }]);
  assert.deepEqual([...written.keys()], ["00", "01"]);
  assert.deepEqual(written.get("01"), written.get("00"));
});

/** A change that ends long after a probe has failed. */
function aSlowChange() {
  const made: string[] = [];
  let commit: () => void = () => undefined;
  const committed = new Promise<void>((resolve) => (commit = resolve));
  const change = async ({ shard }: Dependencies): Promise<string> => {
    if (shard === "00") await committed;
    made.push(shard);
    return shard;
  };
  return { made, change, commit };
}

test("a change waits for a shard that answers no probe, and returns its result", async (t) => {
  const { shards, frozen, pass } = twoShards(t);
  const { change, commit } = aSlowChange();
  frozen.add("00");
  const changed = anywhere(shards, isIn("00"), change);
  await turn();
  await pass(1_000);
  await pass(1_000);
  commit();
  assert.equal(await changed, "00");
});

test("a change that any shard can make is made once although the first shard answers no probe", async (t) => {
  const { shards, frozen, pass } = twoShards(t);
  const { made, change, commit } = aSlowChange();
  frozen.add("00");
  const changed = somewhere(shards, change);
  await pass(1_000);
  await pass(1_000);
  commit();
  assert.equal(await changed, "00");
  assert.deepEqual(made, ["00"]);
});

test("a change is refused at once if its shard is known to be silent", async (t) => {
  const { shards, frozen, asked, read, pass } = twoShards(t);
  frozen.add("00").add("01");
  const first = everywhere(shards, read).catch(() => undefined);
  await pass(1_000);
  await first;
  await assert.rejects(anywhere(shards, read, read), { code: "unavailable" });
  assert.deepEqual(asked, ["00", "01"]);
});

test("a read that exceeds its own limit is not an outage of its shard", async (t) => {
  const { shards, failures } = twoShards(t);
  const read = ({ shard }: Dependencies) =>
    shard === "01" ? Promise.reject(silence(5_000)) : Promise.resolve(shard);
  assert.deepEqual(await everywhere(shards, read), { values: ["00"], away: ["01"] });
  assert.deepEqual(failures, []);
});

test("a failed probe counts as an outage of its shard", async (t) => {
  const { shards, frozen, failures, read, pass } = twoShards(t);
  frozen.add("01");
  const all = everywhere(shards, read);
  await pass(1_000);
  await all;
  assert.equal(failures.length, 1);
});

test("a new organization is refused at once while its shard or the home shard is silent", async (t) => {
  for (const [silent, message] of [
    ["00", /home shard 00/],
    ["01", /./],
  ] as const) {
    const { shards } = twoShards(t);
    const shard = shards.all.find(({ name }) => name === silent);
    assert.ok(shard);
    shard.isSilent = true;
    const db = Object.assign(() => Promise.resolve([{ shard: "01" }]), {
      begin: () => new Promise(() => undefined),
    });
    for (const one of shards.all) Object.assign(one.deps ?? {}, { db });
    const placed = placeOrganization(shards, { slug: "acme", shard: "01" });
    await assert.rejects(placed, { code: "unavailable", message });
    t.mock.timers.reset();
  }
});

test("an outage during an operator's request counts for its shard", async (t) => {
  const { shards, failures } = twoShards(t);
  const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const read = ({ shard }: Dependencies) =>
    shard === "01" ? Promise.reject(refused) : Promise.resolve(shard);
  assert.deepEqual(await everywhere(shards, read), { values: ["00"], away: ["01"] });
  assert.deepEqual(failures, [refused]);
});
