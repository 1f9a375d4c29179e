import { randomUUID } from "node:crypto";
import { encodeEnvelope, TEST_EVENT, TEST_EVENT_DATA } from "../../src/subjects/events/rules.ts";
import { mintSigningSecret, signatureHeaders } from "../../src/webhook/sign.ts";

export const SECRET = mintSigningSecret();

/** A delivery with the service's signature. */
export function aDelivery({ data = TEST_EVENT_DATA, signingSecret = SECRET } = {}) {
  const id = randomUUID();
  const body = encodeEnvelope(
    { id, type: TEST_EVENT, occurredAt: new Date(), data },
    "01990000-0000-7000-8000-000000000001",
  );
  const eventId = `evt_${id}`;
  const headers = {
    "content-type": "application/json",
    ...signatureHeaders({ signingSecret, eventId, timestampMs: Date.now(), body }),
  };
  return { eventId, headers, body: new Uint8Array(body) };
}
