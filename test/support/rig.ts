import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { testAuthority } from "./certificates.ts";
import { createDatabase, environmentOf } from "./database.ts";
import { ADMIN_TOKEN, type Served } from "./program.ts";
import { startLocalReceiver } from "./receiver.ts";
import { aTemporaryFolder } from "./temporary-folder.ts";

/** The environment of processes that share one fresh database and may send to receivers on loopback. */
export async function aRig(
  t: Parameters<typeof aTemporaryFolder>[0],
  further: Record<string, string> = {},
): Promise<Record<string, string>> {
  const folder = await aTemporaryFolder(t);
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, (await testAuthority()).cert);
  return {
    ...environmentOf(await createDatabase({ max: 1, now: new Date() })),
    DATA_DIR: folder,
    EGRESS_ALLOW: "127.0.0.0/8",
    EGRESS_CA_FILE: caFile,
    ...further,
  };
}

export interface Answered {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** An outage is told with the time of the next try. */
export function assertUnavailable({ status, headers }: Answered): void {
  assert.equal(status, 503);
  assert.match(headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
}

/** Calls an API over HTTP. `body` is sent as JSON, and `key` as the Idempotency-Key. */
export async function call(
  url: string,
  {
    method = "GET",
    token,
    body,
    key,
  }: { method?: string; token: string; body?: unknown; key?: string | undefined },
): Promise<Answered> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

/** Creates a partner through the operator API of a running program. */
export async function aPartner(
  program: Served,
  slug: string,
  { rateLimitPerMinute = 600 }: { rateLimitPerMinute?: number } = {},
) {
  const admin = `${program.operatorUrl}/api/v1/admin`;
  await call(`${admin}/organizations`, {
    method: "POST",
    token: ADMIN_TOKEN,
    body: { slug, rate_limit_per_minute: rateLimitPerMinute },
  });
  const key = () =>
    call(`${admin}/keys`, {
      method: "POST",
      token: ADMIN_TOKEN,
      body: { organization: slug, scopes: ["webhooks:manage"] },
    });
  const token = String((await key()).body["token"]);
  return {
    ...partnerOf(program, token),
    anotherToken: async () => String((await key()).body["token"]),
  };
}

/** A partner with a subscription, whose receiver is on loopback. */
export async function aSubscriber(
  t: TestContext,
  program: Served,
  limits: Parameters<typeof aPartner>[2] = {},
) {
  const receiver = await startLocalReceiver(t);
  const partner = await aPartner(program, "acme", limits);
  const subscription = await partner.subscribe(receiver.url("/hooks"));
  return { receiver, partner, subscription };
}

/** A partner with an existing key, on any running program. */
export function partnerOf(program: Served, token: string) {
  const ask = (
    path: string,
    request: { method?: string; body?: unknown; key?: string | undefined } = {},
    as = token,
  ) => call(`${program.partnerUrl}/api/v1/partner${path}`, { ...request, token: as });

  return {
    token,
    ask,
    subscribe: async (url: string) => {
      const { body } = await ask("/webhooks", {
        method: "POST",
        body: { url, events: ["vc.test.ping"] },
      });
      return { id: String(body["id"]), secret: String(body["secret"]) };
    },
    ping: ({ id, secret }: { id: string; secret: string }, key?: string) =>
      ask(`/webhooks/${id}/test`, { method: "POST", body: { secret }, key }),
  };
}
