import type { TestContext } from "node:test";
import { connect } from "../../src/postgres/database.ts";
import { createDatabase, environmentOf } from "./database.ts";
import { aGate, type Gate } from "./database-gate.ts";
import { ADMIN_TOKEN, type Served } from "./program.ts";
import { aRig, type Answered, call, partnerOf } from "./rig.ts";

/** The environment of processes with several shards, each on its own server behind a gate. */
export async function aShardedRig(t: TestContext, names: string[]) {
  const gates = new Map<string, Gate>();
  const urls: string[] = [];
  const owners: string[] = [];
  for (const name of names) {
    const env = environmentOf(await createDatabase({ max: 1, now: new Date() }));
    const gate = await aGate(t, connect(env["DATABASE_URL"] ?? "", { max: 1, name: "test" }));
    gates.set(name, gate);
    urls.push(`${name}=${gate.url}`);
    owners.push(`${name}=${env["MIGRATION_DATABASE_URL"]}`);
  }
  const rig: Record<string, string> = {
    ...(await aRig(t)),
    DATABASE_URL: "",
    SHARDS: urls.join(" "),
    MIGRATION_DATABASE_URL: owners.join(" "),
    SEALING_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
  };
  const gateOf = (name: string) => {
    const gate = gates.get(name);
    if (!gate) throw new Error(`there is no shard ${name}`);
    return gate;
  };
  return { rig, gateOf };
}

/** The operator API of a running program. */
export function operatorOf({ operatorUrl }: Served) {
  return (path: string, request: { method?: string; body?: unknown } = {}): Promise<Answered> =>
    call(`${operatorUrl}/api/v1/admin${path}`, { ...request, token: ADMIN_TOKEN });
}

/** A partner whose organization is in this shard. */
export async function aPartnerIn(program: Served, shard: string, slug: string) {
  const ask = operatorOf(program);
  const made = await ask("/organizations", {
    method: "POST",
    body: { slug, shard, rate_limit_per_minute: 100_000 },
  });
  const key = await ask("/keys", {
    method: "POST",
    body: { organization: slug, scopes: ["webhooks:manage"] },
  });
  const { token, key_id } = key.body as { token: string; key_id: string };
  return { ...partnerOf(program, token), keyId: key_id, organization: made.body };
}
