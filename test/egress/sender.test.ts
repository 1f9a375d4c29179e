import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { verify } from "../../src/webhook/verify.ts";
import { startReceiver } from "../support/receiver.ts";
import * as scripts from "../support/receiver-scripts.ts";
import {
  aPost,
  DELIVERED,
  SIGNING_SECRET,
  startPair,
  startSender,
  unreachable,
} from "../support/sender.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const NO_BODY = "connection: close\r\ncontent-length: 0\r\n\r\n";

test("a delivery is one signed POST of the exact bytes and nothing else", async (t) => {
  const sentAt = new Date();
  const { receiver, send } = await startPair(t, { clock: () => sentAt });
  const body = Buffer.from('{"text":"é\\u0000 \n"}');

  const outcome = await send(receiver.url("/hook/a%20b?x=1&y=%2F"), { attempt: 7, body });
  assert.deepEqual(outcome, DELIVERED);

  const { method, path, headers, body: received } = await receiver.next();
  assert.equal(method, "POST");
  assert.equal(path, "/hook/a%20b?x=1&y=%2F");
  assert.deepEqual(received, body);
  assert.deepEqual(Object.keys(headers).sort(), [
    "connection",
    "content-length",
    "content-type",
    "host",
    "user-agent",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
    "x-vc-attempt",
    "x-vc-signature",
    "x-vc-timestamp",
  ]);
  assert.equal(headers.host, `127.0.0.2:${receiver.port}`);
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["content-length"], String(body.length));
  assert.equal(headers["user-agent"], "partner-api/1.0.0");
  assert.equal(headers["x-vc-attempt"], "7");
  assert.equal(headers["x-vc-timestamp"], String(sentAt.getTime()));
});

test("a partner can verify a delivery with our library and with Standard Webhooks'", async (t) => {
  const { receiver, send } = await startPair(t);
  const envelope = {
    event: "vc.test.ping",
    id: "evt_00000000-0000-4000-8000-000000000001",
    subscription_id: "wh_00000000-0000-4000-8000-000000000002",
    occurred_at: "2026-01-01T00:00:00.000Z",
    data: { message: "integration test" },
  };
  await send(receiver.url(), { body: Buffer.from(JSON.stringify(envelope)) });

  const { headers, body } = await receiver.next();
  const { verdict } = await verify({ secret: SIGNING_SECRET, headers, body });
  assert.equal(verdict, "valid");
  const standard = new Webhook(SIGNING_SECRET).verify(body, headers as Record<string, string>);
  assert.deepEqual(standard, envelope);
});

test("each attempt is signed with its own time", async (t) => {
  const times = [1_767_225_600_000, 1_767_225_660_000];
  const { receiver, send } = await startPair(t, { clock: () => new Date(times.shift() ?? 0) });
  await send();
  await send();

  const [first, second] = [await receiver.next(), await receiver.next()];
  assert.equal(first.headers["x-vc-timestamp"], "1767225600000");
  assert.equal(second.headers["x-vc-timestamp"], "1767225660000");
  assert.notEqual(first.headers["x-vc-signature"], second.headers["x-vc-signature"]);
  assert.equal(first.headers["webhook-id"], second.headers["webhook-id"]);
});

for (const status of [200, 201, 202, 204, 226, 299]) {
  test(`${status} acknowledges a delivery`, async (t) => {
    const { receiver, send } = await startPair(t);
    receiver.answer(scripts.status(status));
    assert.deepEqual(await send(), { kind: "acknowledged", httpStatus: status });
  });
}

for (const status of [300, 301, 304, 307, 400, 401, 404, 410, 418, 429, 500, 503, 599]) {
  test(`${status} refuses a delivery`, async (t) => {
    const { receiver, send } = await startPair(t);
    receiver.answer(scripts.status(status));
    assert.deepEqual(await send(), { kind: "refused", httpStatus: status });
  });
}

test("the environment can neither set a proxy nor disable certificate checks", async (t) => {
  const sender = await startSender(t);
  const proxy = await startReceiver(t, { address: "127.0.0.1" });
  const receiver = await startReceiver(t, { certificate: "self-signed" });
  const { HTTPS_PROXY, NODE_TLS_REJECT_UNAUTHORIZED } = process.env;
  t.after(() => {
    restore({ HTTPS_PROXY, NODE_TLS_REJECT_UNAUTHORIZED });
  });
  restore({ HTTPS_PROXY: proxy.url(), NODE_TLS_REJECT_UNAUTHORIZED: "0" });

  assert.deepEqual(
    await sender.send(aPost(receiver.url())),
    unreachable("tls_error", "self_signed"),
  );
  assert.equal(proxy.connections.length, 0);
  assert.equal(receiver.connections.length, 1);
});

const ANSWERS = {
  "interim responses before the status are skipped": [
    scripts.raw(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\n${NO_BODY}`,
    ),
    { kind: "acknowledged", httpStatus: 202 },
  ],
  "interim responses may come in the smallest of pieces": [
    scripts.drip(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 P\r\n\r\n${OK}${NO_BODY}`, 1),
    DELIVERED,
  ],
  "an answer in HTTP/1.0 counts": [scripts.rawAndEnd("HTTP/1.0 200 OK\r\n\r\nhello"), DELIVERED],
} as const;

for (const [sentence, [script, expected]] of Object.entries(ANSWERS)) {
  test(sentence, async (t) => {
    const { receiver, send } = await startPair(t);
    receiver.answer(script);
    assert.deepEqual(await send(), expected);

    receiver.answer(scripts.status(200)); // The next attempt succeeds.
    assert.deepEqual(await send(), DELIVERED);
  });
}

function restore(values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  }
}
