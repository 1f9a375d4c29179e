import type { TestContext } from "node:test";
import {
  type AddressPolicy,
  Egress,
  type EgressOptions,
  type NameLookup,
  parseCidr,
} from "../../src/egress/index.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { createSender, type Post, type Send } from "../../src/queue/sender.ts";
import { testAuthority } from "./certificates.ts";
import { type ReceiverOptions, startReceiver } from "./receiver.ts";

/** The address of test receivers. Never 127.0.0.1: a connection to it has passed the policy by mistake. */
export const RECEIVERS: AddressPolicy = {
  allow: ["127.0.0.2/32", "127.0.0.3/32", "::1/128"].map(cidr),
  deny: [],
};

export const SIGNING_SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEy";

export const DELIVERED = { kind: "acknowledged", httpStatus: 200 } as const;
export const unreachable = (reason: string, detail: string | null = null) => ({
  kind: "unreachable",
  reason,
  detail,
});

interface SenderOptions extends EgressOptions {
  timeoutMs?: number;
  clock?: Clock;
}

export type PairOptions = SenderOptions & ReceiverOptions;

/** A sender, a receiver, and a function that sends a delivery to it. */
export async function startPair(t: TestContext, options: PairOptions = {}) {
  const sender = await startSender(t, options);
  const receiver = await startReceiver(t, options);
  const send = (url = receiver.url(), changes: Partial<Post> = {}) =>
    sender.send(aPost(url, changes));
  return { sender, receiver, send };
}

/** A sender that trusts the test authority and may reach test receivers. */
export async function startSender(t: TestContext, options: SenderOptions = {}) {
  const { timeoutMs = 30_000, clock = () => new Date(), ...others } = options;
  const egress = new Egress({
    ...{ lookup: noName, policy: RECEIVERS, maxConnections: 3_000 },
    ca: (await testAuthority()).cert,
    ...others,
  });
  t.after(() => egress.close());
  const send: Send = createSender({ egress, clock, timeoutMs, userAgent: "partner-api/1.0.0" });
  return { egress, send, close: () => egress.close() };
}

export function aPost(url: string, changes: Partial<Post> = {}): Post {
  return {
    url,
    eventId: "evt_00000000-0000-4000-8000-000000000001",
    signingSecret: SIGNING_SECRET,
    attempt: 1,
    body: Buffer.from('{"event":"vc.test.ping"}'),
    ...changes,
  };
}

/** A look-up with these answers by name. The answers for a name are returned in order. */
export function names(answers: Record<string, string[][]>): NameLookup {
  return (host) => {
    const addresses =
      (answers[host]?.length ?? 0) > 1 ? answers[host]?.shift() : answers[host]?.[0];
    return Promise.resolve(addresses ? { kind: "addresses", addresses } : { kind: "none" });
  };
}

function noName(): ReturnType<NameLookup> {
  return Promise.resolve({ kind: "none" });
}

function cidr(block: string) {
  const parsed = parseCidr(block);
  if (parsed === null) throw new Error(`${block} is not a block`);
  return parsed;
}
