import assert from "node:assert/strict";
import { request } from "node:http";
import { breakOff } from "../support/break-off.ts";
import { mintSigningSecret } from "../../src/webhook/sign.ts";
import { aDelivery } from "./delivery.ts";

/** One byte more than a receiver should accept. */
export const TOO_MANY_BYTES = 1024 * 1024 + 1;

/**
 * Checks a receiver that prints `received <type> <id>`: valid, repeated, forged, stale and hostile
 * requests.
 */
export async function checkReceiver(port: number, output: () => string): Promise<void> {
  // Its bytes differ from those of JSON.stringify(JSON.parse(…)).
  const delivery = aDelivery({ data: '{"message": "Zürich \\u00e9", "n": 1.0}' });
  assert.equal(await post(port, delivery), "204 ");
  assert.equal(await post(port, delivery), "204 ");
  assert.equal(await post(port, aDelivery()), "204 ");

  const forged = aDelivery({ signingSecret: mintSigningSecret() });
  assert.equal(await post(port, forged), "400 forged");
  assert.equal(await post(port, { ...delivery, body: Buffer.from("{}") }), "400 forged");
  assert.equal(await post(port, { ...delivery, body: new Uint8Array() }), "400 forged");

  const { headers } = delivery;
  const signature = headers["X-VC-Signature" as keyof typeof headers];
  const twice = { ...headers, "X-VC-Signature": [signature, signature] };
  assert.equal(await post(port, { ...delivery, headers: twice }), "400 malformed");
  const old = { ...headers, "X-VC-Timestamp": String(Date.now() - 300_001) };
  assert.equal(await post(port, { ...delivery, headers: old }), "400 stale");

  assert.equal(await post(port, { headers: {}, body: null }), "400 malformed");
  const chunks = { headers: { "transfer-encoding": "chunked" } };
  assert.match(await post(port, { ...chunks, body: new Uint8Array(TOO_MANY_BYTES) }), /^413 /);

  await breakOff(port);
  assert.equal(await post(port, aDelivery()), "204 ", "works after an aborted request");

  const times = output().split(`received vc.test.ping ${delivery.eventId}`).length - 1;
  assert.equal(times, 1, output());
  for (const verdict of ["forged", "malformed", "stale"]) {
    assert.match(output(), new RegExp(`^refused with 400: ${verdict}$`, "m"));
  }
  assert.match(output(), /refused with 413: more than 1 MiB|too large/);
  assert.doesNotMatch(output(), new RegExp(`${forged.eventId}|whsec_|sha256=`));
}

function post(
  port: number,
  { headers, body }: { headers: Record<string, string | string[]>; body: Uint8Array | null },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, host: "127.0.0.1", path: "/hooks", method: "POST", agent: false };
    const length =
      body === null || "transfer-encoding" in headers ? {} : { "content-length": body.length };
    const outgoing = request({ ...options, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        resolve(`${response.statusCode ?? 0} ${Buffer.concat(chunks).toString()}`);
      });
    });
    if (body === null) {
      outgoing.removeHeader("content-length"); // Not even a length of 0.
      outgoing.removeHeader("transfer-encoding");
    }
    outgoing.on("error", reject).end(body);
  });
}
