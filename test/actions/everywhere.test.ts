import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import type { Dependencies } from "../../src/actions/dependencies.ts";
import { anywhere, everywhere, somewhere } from "../../src/actions/everywhere.ts";
import { Shards } from "../../src/actions/shards.ts";
import { PartnerError } from "../../src/domain/errors.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";

const { deps } = await createEngine(await createDatabase({ max: 1 }));

/** Two shards whose databases can be frozen, with a clock that the test moves. */
function twoShards(t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const frozen = new Set<string>();
  const failures: unknown[] = [];
  const away = () => Object.assign(new Error("no answer"), { code: "ETIMEDOUT" });
  const shardOf = (name: string) => {
    const ask = () => (frozen.has(name) ? Promise.reject(away()) : Promise.resolve([]));
    const db = Object.assign(ask, { within: () => db }) as unknown as Dependencies["db"];
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

test("a slow read is no outage: its shard answers probes, so its answer is waited for", async (t) => {
  const { shards, failures, pass } = twoShards(t);
  let end: (found: string) => void = () => undefined;
  const slow = new Promise<string>((resolve) => (end = resolve));
  const all = everywhere(shards, ({ shard }) => (shard === "01" ? slow : Promise.resolve(shard)));
  for (let i = 0; i < 20; i++) await pass(1_000);
  end("late");
  assert.deepEqual(await all, { values: ["00", "late"], away: [] });
  assert.deepEqual(failures, []);
});

test("a look-up by a bare id ends although a shard is frozen, and says which one", async (t) => {
  const { shards, frozen, read, pass } = twoShards(t);
  frozen.add("01");
  const found = anywhere(shards, async (at) => {
    await read(at);
    throw new PartnerError("not_found", "There is none.");
  });
  const refused = assert.rejects(found, {
    code: "unavailable",
    message: "No answer of shard 01. Try again.",
  });
  await pass(1_000);
  await refused;
});

test("a shard that is silent is left out where any will do", async (t) => {
  const { shards, frozen, read, pass } = twoShards(t);
  frozen.add("00");
  const first = somewhere(shards, read);
  await pass(1_000);
  assert.equal(await first, "01");
  assert.equal(await somewhere(shards, read), "01");
});

test("an outage that operators' requests meet is noted at its shard", async (t) => {
  const { shards, failures } = twoShards(t);
  const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const read = ({ shard }: Dependencies) =>
    shard === "01" ? Promise.reject(refused) : Promise.resolve(shard);
  assert.deepEqual(await everywhere(shards, read), { values: ["00"], away: ["01"] });
  assert.deepEqual(failures, [refused]);
});
