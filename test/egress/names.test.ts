import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ONLY_GUARDED, startGuardedReceiver } from "../support/canaries.ts";
import { createDatabase } from "../support/database.ts";
import { type Failure, type Records, startDnsServer } from "../support/dns-server.ts";
import { attemptAll, claimAll } from "../support/engine.ts";
import { EVENTS, startPartnerApi } from "../support/partner-api.ts";
import * as scripts from "../support/receiver-scripts.ts";
import { aPost, startSender } from "../support/sender.ts";

const db = await createDatabase();

const HOST = "hooks.partner.test";
const GOOD: Records = { A: ["127.0.0.2"] };
const PRIVATE: Records = { A: ["127.0.0.1"] };
const MANY = Array<string>(99).fill("127.0.0.2");

/** A timeout that has no effect if answers arrive, and a short one for tests that wait for silence. */
const PATIENT_MS = 10_000;
const SHORT_MS = 900;

const NOT_PUBLIC = "The URL's host name resolves to an address that is not public.";
const NOT_FOUND = "The URL's host name does not resolve to an address.";

/** A name, its addresses, and the expected results of a creation and of a delivery. */
const ANSWERS: Record<
  string,
  { answer: Records | Failure; detail: string | null; reason: string | null; ms?: number }
> = {
  "one good address": { answer: GOOD, detail: null, reason: null },
  "a hundred good addresses": {
    answer: { A: [...MANY, "127.0.0.2"] },
    detail: null,
    reason: null,
  },
  "nothing but IPv6": { answer: { AAAA: ["::ffff:127.0.0.2"] }, detail: null, reason: null },
  "IPv4, while the servers keep silent about IPv6": {
    answer: { A: ["127.0.0.2"], AAAA: "silence" },
    detail: null,
    reason: null,
    ms: SHORT_MS,
  },
  "an alias of a good name": { answer: { CNAME: "good.test" }, detail: null, reason: null },
  "a private address": refused(PRIVATE),
  "only private IPv6": refused({ AAAA: ["::1"] }),
  "mapped loopback": refused({ AAAA: ["::ffff:127.0.0.1"] }),
  "a good and a private address": refused({ A: ["127.0.0.2", "127.0.0.1"] }),
  "good IPv4 and private IPv6": refused({ A: ["127.0.0.2"], AAAA: ["::1"] }),
  "private IPv4 and good IPv6": refused({ A: ["127.0.0.1"], AAAA: ["::ffff:127.0.0.2"] }),
  "99 good addresses and a private one": refused({ A: [...MANY, "127.0.0.1"] }),
  "the address of a cloud's metadata": refused({ A: ["169.254.169.254"] }),
  "the unspecified address": refused({ A: ["0.0.0.0"] }),
  "NAT64 of loopback": refused({ AAAA: ["64:ff9b::7f00:1"] }),
  "an alias of an internal name": refused({ CNAME: "internal.test" }),
  "an alias of an alias of an internal name": refused({ CNAME: "alias.test" }),
  "an alias of a missing name": unknown({ CNAME: "gone.test" }),
  "no address": unknown({}),
  "three hundred addresses": unknown({ A: [...MANY, ...MANY, ...MANY, ...MANY] }),
  NXDOMAIN: unknown("NXDOMAIN"),
  SERVFAIL: unknown("SERVFAIL"),
  REFUSED: unknown("REFUSED"),
  silence: unknown("silence", SHORT_MS),
  "an answer that never ends": unknown("endless", SHORT_MS),
};

for (const [what, { answer, detail, reason, ms }] of Object.entries(ANSWERS)) {
  test(`a name that resolves to ${what} is ${detail === null ? "accepted" : "refused"} at creation`, async (t) => {
    const { dns, create } = await aService(t, ms);
    dns.set(HOST, answer);
    assert.equal((await create(`https://${HOST}/`)).detail ?? null, detail);
  });

  test(`a delivery to a name that now resolves to ${what} is ${reason ?? "made"}`, async (t) => {
    const { dns, create, deliver } = await aService(t, ms);
    const receiver = await startGuardedReceiver(t, { host: HOST, certifiedHosts: [HOST] });
    dns.set(HOST, GOOD, answer);
    const subscription = await create(receiver.url());
    assert.deepEqual(await deliver(subscription), reason === null ? [] : [[0, reason]]);
    assert.equal(receiver.connections.length, reason === null ? 1 : 0);
  });
}

for (const ttl of [0, 86_400]) {
  test(`a name that turns private between two deliveries is not contacted on the kept connection, with any TTL (${ttl})`, async (t) => {
    const { dns, create, deliver } = await aService(t);
    const receiver = await startGuardedReceiver(t, { host: HOST });
    dns.set(HOST, { ...GOOD, ttl }, { ...GOOD, ttl }, { ...PRIVATE, ttl });
    const subscription = await create(receiver.url());
    assert.deepEqual(await deliver(subscription), []);
    assert.deepEqual(await deliver(subscription), [[0, "address_not_public"]]);
    assert.deepEqual([receiver.connections.length, receiver.requests.length], [1, 1]);
  });
}

test("a name that turns private between two attempts of a delivery is not contacted on the kept connection", async (t) => {
  const { dns, create, deliver, retry } = await aService(t);
  const receiver = await startGuardedReceiver(t, { host: HOST });
  receiver.answer(scripts.status(503));
  dns.set(HOST, GOOD, GOOD, PRIVATE, GOOD);
  const subscription = await create(receiver.url());
  assert.deepEqual(await deliver(subscription), [[503, "http_503"]]);
  assert.deepEqual((await retry(subscription, 60_000))[0], [0, "address_not_public"]);
  assert.deepEqual((await retry(subscription, 300_000))[0], [503, "http_503"]);
  // The refused retry has not closed the connection.
  assert.deepEqual([receiver.connections.length, receiver.requests.length], [1, 2]);
});

test("a name without an address gets its delivery when it has one again", async (t) => {
  const { dns, create, deliver, retry } = await aService(t);
  const receiver = await startGuardedReceiver(t, { host: HOST });
  dns.set(HOST, GOOD, "NXDOMAIN", "SERVFAIL", GOOD);
  const subscription = await create(receiver.url());
  await deliver(subscription);
  await retry(subscription, 60_000);
  assert.deepEqual(await retry(subscription, 300_000), [
    [0, "dns_error"],
    [0, "dns_error"],
  ]);
  assert.equal(receiver.requests.length, 1);
});

test("an attempt looks up its name once, and connects to the checked address", async (t) => {
  const { dns, create, deliver } = await aService(t);
  const receiver = await startGuardedReceiver(t, { host: HOST });
  dns.set(HOST, GOOD, GOOD, PRIVATE);
  assert.deepEqual(await deliver(await create(receiver.url())), []);
  assert.equal(dns.queries.filter((query) => query === `A ${HOST}`).length, 2);
});

test("localhost stays refused if the operator allows another loopback address", async (t) => {
  const { create } = await aService(t);
  const { port } = await startGuardedReceiver(t);
  for (const host of ["localhost", "LOCALHOST.", "loc%61lhost"]) {
    assert.equal((await create(`https://${host}:${port}/`)).detail, NOT_PUBLIC, host);
  }
});

test("a hundred names with silent servers do not delay other deliveries", async (t) => {
  const { dns, sender } = await aService(t, 3_600_000);
  const receiver = await startGuardedReceiver(t, { host: HOST });
  dns.set(HOST, GOOD);
  const slow = Array.from({ length: 100 }, (_, i) => {
    dns.set(`slow-${i}.test`, "silence");
    return sender.send(aPost(`https://slow-${i}.test/`));
  });
  await dns.queried("AAAA slow-99.test");
  const first = await Promise.race([...slow, sender.send(aPost(receiver.url()))]);
  assert.deepEqual(first, { kind: "acknowledged", httpStatus: 200 });
});

function refused(answer: Records) {
  return { answer, detail: NOT_PUBLIC, reason: "address_not_public" };
}

function unknown(answer: Records | Failure, ms = PATIENT_MS) {
  return { answer, detail: NOT_FOUND, reason: "dns_error", ms };
}

interface Subscription {
  id: string;
  secret: string;
  detail?: string;
}

type Failures = [httpStatus: number, reason: string][];

/** The partners' API and the sender with look-ups at a real name server, set up as by an operator. */
async function aService(t: TestContext, timeoutMs = PATIENT_MS) {
  await db`delete from waiting_deliveries`; // Removes the deliveries of earlier tests.
  const dns = await startDnsServer(t, {
    "good.test": GOOD,
    "internal.test": PRIVATE,
    "alias.test": { CNAME: "internal.test" },
  });
  const sender = await startSender(t, {
    ...{ policy: ONLY_GUARDED, timeoutMs: 7_200_000 },
    ...{ lookup: undefined, nameServers: [dns.address], lookUpMs: timeoutMs },
  });
  const api = startPartnerApi(t, db, {
    checkDestination: (url) => sender.egress.check(url),
  });
  const { authorization } = await api.aKeyWith("webhooks:manage");

  return { dns, sender, create, deliver, retry };

  async function ask<T>(path: string, payload?: object): Promise<T> {
    const url = `/api/v1/partner/webhooks${path}`;
    const method = payload ? "POST" : "GET";
    const response = await api.inject({
      method,
      url,
      headers: { authorization },
      ...(payload && { payload }),
    });
    return response.json<T>();
  }

  function create(url: string): Promise<Subscription> {
    return ask("", { url, events: EVENTS });
  }

  /** Makes the first attempt of a delivery and returns all failures so far, newest first. */
  async function deliver(subscription: Subscription): Promise<Failures> {
    await ask(`/${subscription.id}/test`, { secret: subscription.secret });
    return retry(subscription, 0);
  }

  /** Makes the next attempt when it is due. */
  async function retry({ id }: Subscription, afterMs: number): Promise<Failures> {
    api.clock.advance(afterMs);
    await attemptAll(api.deps, await claimAll(api.deps), (post) => sender.send(post));
    const { items } = await ask<{ items: { http_status: number; reason: string }[] }>(
      `/${id}/failures`,
    );
    return items.map(({ http_status, reason }) => [http_status, reason]);
  }
}
