import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { connect } from "../../src/postgres/database.ts";
import { type Collector, type SpanSeen, startCollector } from "../support/collector.ts";
import { column } from "../support/columns.ts";
import { freePort } from "../support/free-port.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { type RunningService, startService } from "../support/service.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;

async function aTracedRig(t: TestContext, collector: { url: string }, env = {}) {
  return aRig(t, { RETRY_DELAYS: "10ms", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env });
}

/** A partner with a subscription, and the partner's test call. */
async function aSubscriber(t: TestContext, program: RunningService) {
  const receiver = await startLocalReceiver(t);
  const partner = await aPartner(program, "acme");
  const subscription = await partner.subscribe(receiver.url("/hooks?key=hunter2"));
  const ping = async (headers: Record<string, string> = {}) => {
    const path = `/api/v1/partner/webhooks/${subscription.id}/test`;
    const answer = await fetch(`${program.partnerUrl}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${partner.token}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify({ secret: subscription.secret }),
    });
    assert.equal(answer.status, 200);
    return ((await answer.json()) as { event_id: string }).event_id;
  };
  return { receiver, partner, subscription, ping };
}

/** Resolves when the log has such a line. */
async function logged(
  program: RunningService,
  isWanted: (line: Record<string, unknown>) => boolean,
) {
  for (;;) {
    const line = program.log.find(isWanted);
    if (line) return line;
    await once(program.logging, "line");
  }
}

function only(spans: SpanSeen[], name: string): SpanSeen {
  const [span, ...others] = spans.filter((one) => one.name === name);
  assert.ok(span && others.length === 0, `${name}: ${others.length}`);
  return span;
}

const childrenOf = (collector: Collector, parent: SpanSeen) =>
  collector.spans.all.filter(({ parentId }) => parentId === parent.id);

test("one trace leads from the publisher's request and its statements to the attempts of another process", async (t) => {
  const collector = await startCollector(t);
  const rig = await aTracedRig(t, collector, { OTEL_SERVICE_NAME: "partner-eu" });
  const first = await startService(t, { ...rig, ROLE: "api" });
  const { receiver, partner, subscription, ping } = await aSubscriber(t, first);
  receiver.answer(status(500), status(204));
  const eventId = await ping({ traceparent: TRACEPARENT });
  const line = await logged(first, ({ event_id }) => event_id === eventId);
  assert.equal(line["trace_id"], TRACE);
  await first.stop();

  const second = await startService(t, { ...rig, ROLE: "dispatcher" });
  for (let attempt = 1; attempt <= 2; attempt++) {
    const { headers } = await receiver.next();
    assert.equal(headers["traceparent"], undefined);
  }
  const attempted = await logged(second, ({ msg }) => msg === "attempt");
  assert.equal(attempted["trace_id"], TRACE);
  await second.stop();

  const trace = collector.spans.all.filter(({ traceId }) => traceId === TRACE);
  const request = only(trace, "POST /api/v1/partner/webhooks/:id/test");
  assert.equal(request.parentId, CALLER);
  assert.equal(request.resource["service.name"], "partner-eu");
  assert.equal(request.attributes["http.response.status_code"], 200);
  assert.equal(request.attributes["http.request.method"], "POST");
  assert.equal(request.attributes["messaging.message.id"], eventId);

  const publish = only(trace, "publish");
  assert.equal(publish.parentId, request.id);
  assert.equal(publish.attributes["messaging.message.id"], eventId);
  const beside = childrenOf(collector, request).filter((span) => span !== publish);
  assert.ok(beside.some(({ attributes }) => attributes["db.system.name"] === "postgresql"));
  const statements = childrenOf(collector, publish).filter(({ name }) => name !== "attempt");
  assert.deepEqual(column(statements, "name"), ["INSERT events INSERT waiting_deliveries"]);

  const attempts = trace.filter(({ name }) => name === "attempt");
  assert.deepEqual(
    attempts.map(({ parentId, failed, attributes: of }) => [
      ...[parentId, failed, of["partner_api.attempt"]],
      ...[of["http.response.status_code"], of["error.type"]],
    ]),
    [
      [publish.id, true, 1, 500, "http_500"],
      [publish.id, false, 2, 204, undefined],
    ],
  );
  const [one, two] = attempts.map((attempt) => childrenOf(collector, attempt));
  assert.deepEqual(one?.map(({ name }) => name).sort(), [
    "connect",
    "first byte",
    "look-up",
    "tls",
  ]);
  assert.deepEqual(two?.map(({ name }) => name).sort(), ["first byte", "look-up"]);
  const processes = [request, ...attempts].map(({ resource }) => resource["service.instance.id"]);
  assert.equal(new Set(processes).size, 2);

  const sent = collector.text();
  for (const secret of [
    subscription.secret,
    partner.token,
    ADMIN_TOKEN,
    "hunter2",
    "integration test",
  ])
    assert.ok(!sent.includes(secret), secret);
});

test("a publisher's batch is one trace that its receivers continue with TRACE_RECEIVERS", async (t) => {
  const collector = await startCollector(t);
  const types = await aTemporaryFolder(t);
  const type = { summary: "An order was placed", schema: { type: "object" }, example: {} };
  await writeFile(join(types, "order.placed.json"), JSON.stringify(type));
  const env = { TRACE_RECEIVERS: "true", EVENT_TYPES: types };
  const program = await startService(t, await aTracedRig(t, collector, env));
  const { receiver, partner } = await aSubscriber(t, program);
  const body = { url: receiver.url("/orders"), events: ["order.placed"] };
  assert.equal((await partner.ask("/webhooks", { method: "POST", body })).status, 201);

  const event = { organization: "acme", type: "order.placed", data: { note: "hunter2" } };
  const answer = await fetch(`${program.operatorUrl}/api/v1/admin/events`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      "content-type": "application/json",
      traceparent: TRACEPARENT,
    },
    body: JSON.stringify({ events: [event, event] }),
  });
  assert.equal(answer.status, 202);
  const told = [await receiver.next(), await receiver.next()].map(
    ({ headers }) => headers["traceparent"],
  );
  await program.stop();

  const trace = collector.spans.all.filter(({ traceId }) => traceId === TRACE);
  const request = only(trace, "POST /api/v1/admin/events");
  assert.equal(request.parentId, CALLER);
  const publish = only(trace, "publish");
  assert.equal(publish.parentId, request.id);
  assert.equal(publish.attributes["messaging.batch.message_count"], 2);
  const attempts = trace.filter(({ name }) => name === "attempt");
  assert.deepEqual(column(attempts, "parentId"), [publish.id, publish.id]);
  assert.deepEqual(told.sort(), attempts.map(({ id }) => `00-${TRACE}-${id}-01`).sort());
  assert.ok(!collector.text().includes("hunter2"));
});

test("the traceparent of a request that publishes nothing is not honoured", async (t) => {
  const collector = await startCollector(t);
  const program = await startService(t, await aTracedRig(t, collector));
  await fetch(`${program.partnerUrl}/api/v1/partner/me`, { headers: { traceparent: TRACEPARENT } });
  for (const probe of ["healthz", "readyz", "metrics"])
    await (await fetch(`${program.operatorUrl}/${probe}`)).text();
  await program.stop();
  const request = only(collector.spans.all, "GET /api/v1/partner/me");
  assert.deepEqual([request.parentId, request.traceId === TRACE], ["", false]);
  assert.deepEqual(
    collector.spans.all
      .map(({ name }) => name)
      .filter((name) => /healthz|readyz|metrics/.test(name)),
    [],
  );
});

test("without tracing no event stores a trace, and a caller's traceparent is ignored", async (t) => {
  const rig = await aRig(t);
  const program = await startService(t, rig);
  const { receiver, ping } = await aSubscriber(t, program);
  const eventId = await ping({ traceparent: TRACEPARENT });
  assert.equal((await receiver.next()).headers["traceparent"], undefined);
  const line = await logged(program, ({ event_id }) => event_id === eventId);
  assert.equal(line["trace_id"], undefined);
  await program.stop();
  assert.deepEqual(await storedIn(rig), [null]);
});

test("a trace that is not sampled is stored as such and not exported", async (t) => {
  const collector = await startCollector(t);
  const rig = await aTracedRig(t, collector);
  const program = await startService(t, rig);
  const { receiver, ping } = await aSubscriber(t, program);
  await ping({ traceparent: TRACEPARENT.replace(/01$/, "00") });
  await receiver.next();
  await program.stop();
  assert.ok(collector.spans.all.length > 0);
  assert.ok(collector.spans.all.every(({ traceId }) => traceId !== TRACE));
  const [stored] = await storedIn(rig);
  assert.match(stored ?? "", new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
});

test("a collector that hangs delays neither a delivery nor the stop", async (t) => {
  const collector = await startCollector(t);
  collector.answer(() => undefined);
  const rig = await aTracedRig(t, collector, { OTEL_BSP_SCHEDULE_DELAY: "50" });
  const program = await startService(t, rig);
  const { receiver, ping } = await aSubscriber(t, program);
  const asked = collector.spans.until((all) => all[0]);
  await ping();
  await asked; // The export has begun and has no answer.
  await ping();
  for (let i = 0; i < 2; i++) await receiver.next();
  await program.stop();
});

test("an unavailable collector costs a line of the log and no delivery", async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const soon = { OTEL_BSP_SCHEDULE_DELAY: "50", OTEL_EXPORTER_OTLP_TIMEOUT: "500" };
  const program = await startService(t, await aTracedRig(t, { url }, soon));
  const { receiver, ping } = await aSubscriber(t, program);
  await ping();
  await receiver.next();
  await logged(
    program,
    ({ msg }) => msg === "the collector does not accept spans: they are dropped",
  );
  await program.stop();
});

async function storedIn(rig: Record<string, string>): Promise<(string | null)[]> {
  const db = connect(rig["DATABASE_URL"] ?? "", { max: 1, name: "test" });
  const rows = await db<{ traceparent: string | null }[]>`select traceparent from events`;
  await db.end();
  return rows.map(({ traceparent }) => traceparent);
}
