import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Answer, createResolver, NameServers } from "../../src/egress/names.ts";
import { type Failure, type Records, startDnsServer } from "../support/dns-server.ts";
import { standStill } from "../support/stand-still.ts";

const LIMIT_MS = 2_000;
const HOUR_MS = 3_600_000;
const ADDRESS = ["192.0.2.1"];

test("answers that arrived during a pause of the process are in time", async (t) => {
  const dns = await startDnsServer(t, { "a.test": { A: ADDRESS, AAAA: [] } });
  const servers = new NameServers(LIMIT_MS, () => createResolver([dns.address], LIMIT_MS));
  t.after(() => {
    servers.cancel();
  });
  const asked = servers.ask("a.test");
  await Promise.all([dns.queried("A a.test"), dns.queried("AAAA a.test")]);
  standStill(LIMIT_MS + 100);
  assert.deepEqual(
    (await asked).flatMap(({ addresses }) => addresses),
    ADDRESS,
  );
});

/** A question with a limit of an hour, on a clock that the test moves, and its result. */
async function ask(t: TestContext, records: Records | Failure) {
  const dns = await startDnsServer(t, { "a.test": records });
  const resolver = createResolver([dns.address], HOUR_MS);
  const servers = new NameServers(HOUR_MS, () => resolver);
  t.after(() => {
    servers.cancel();
  });
  const { mock } = t.mock.method(resolver, "resolve4");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let answers: Answer[] | undefined;
  void servers.ask("a.test").then((all) => (answers = all));
  const [ofIPv4] = mock.calls;
  return {
    ofIPv4: ofIPv4?.result,
    answersAfter: async (ms: number) => {
      await setImmediate();
      t.mock.timers.tick(ms);
      await setImmediate();
      return answers;
    },
  };
}

test("after one family has addresses, a silent family is waited for 30 % of the limit", async (t) => {
  const { ofIPv4, answersAfter } = await ask(t, { A: ADDRESS, AAAA: "silence" });
  await ofIPv4;
  assert.equal(await answersAfter(0.3 * HOUR_MS - 1), undefined);
  assert.deepEqual(await answersAfter(1), [{ addresses: ADDRESS, usable: true }]);
});

test("a silent family is waited for to the limit if the other has no addresses", async (t) => {
  const { ofIPv4, answersAfter } = await ask(t, { A: [], AAAA: "silence" });
  await assert.rejects(async () => ofIPv4, { code: "ENODATA" });
  assert.equal(await answersAfter(HOUR_MS - 1), undefined);
  assert.deepEqual(await answersAfter(1), [{ addresses: [], usable: true, code: "ENODATA" }]);
});

test("after a pause beyond the limit, repeated questions get 30 % of it", async (t) => {
  const { answersAfter } = await ask(t, "silence");
  const now = performance.now();
  t.mock.method(performance, "now", () => now + HOUR_MS + 200);
  assert.equal(await answersAfter(HOUR_MS), undefined);
  assert.equal(await answersAfter(0.3 * HOUR_MS - 1), undefined);
  assert.deepEqual(await answersAfter(1), []);
});

test("if the name servers change, the new ones are asked after the old ones fail", async (t) => {
  const [old, today] = [await startDnsServer(t), await startDnsServer(t)];
  old.setEverything("REFUSED");
  today.set("a.test", { A: ADDRESS, AAAA: [] });
  const configured = [old, old, today, today]; // Two resolvers each, one for the probe.
  const servers = new NameServers(LIMIT_MS, () =>
    createResolver([configured.shift()?.address ?? ""], LIMIT_MS),
  );
  t.after(() => {
    servers.cancel();
  });
  const addresses = async () => (await servers.ask("a.test")).flatMap((one) => one.addresses);
  assert.deepEqual(await addresses(), []);
  assert.equal(await servers.probe(LIMIT_MS), false);
  assert.deepEqual(await addresses(), ADDRESS);
});

test("the probe has a resolver of its own, which silent names do not affect", async (t) => {
  const dns = await startDnsServer(t, { "a.test": "silence" });
  const resolvers = [0, 1].map(() => createResolver([dns.address], LIMIT_MS));
  const asked = resolvers.map((one) => t.mock.method(one, "resolve4").mock);
  const servers = new NameServers(LIMIT_MS, () => resolvers.shift() ?? assert.fail());
  const silent = servers.ask("a.test");
  assert.equal(await servers.probe(LIMIT_MS), true);
  servers.cancel();
  await silent;
  assert.deepEqual(
    asked.map(({ calls }) => calls.map((call) => call.arguments[0])),
    [["a.test"], ["a.root-servers.net"]],
  );
});
