import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../../src/postgres/database.ts";
import { admitKeys } from "../../../src/subjects/keys/admission-sql.ts";
import { admit } from "../../../src/subjects/keys/admission.ts";
import { hashSecret } from "../../../src/subjects/keys/rules.ts";
import { revokeApiKey } from "../../../src/subjects/keys/work.ts";
import { columns } from "../../support/columns.ts";
import { comparesOf } from "../../support/compares.ts";
import { createDatabase } from "../../support/database.ts";
import { startPartnerApi } from "../../support/partner-api.ts";

const db = await createDatabase();

test("an unknown key causes the same response, statements and comparison as a wrong secret", async (t) => {
  const statements: Statement[] = [];
  const api = startPartnerApi(t, recording(db, statements));
  const { keyId, token } = await api.aKeyWith("webhooks:manage");
  const revoked = await api.aKeyWith("webhooks:manage");
  await revokeApiKey(api.deps, revoked.keyId);
  const compared = comparesOf(t);

  const wrong = "A".repeat(43);
  const ask = async (authorization: string) => {
    const since = { statements: statements.length, compared: compared.length };
    const headers = { authorization, "x-request-id": "same" };
    const answer = await api.inject({ url: "/api/v1/partner/webhooks", headers });
    const { date, ...others } = answer.headers;
    assert.ok(date);
    return {
      answer: [answer.statusCode, others, answer.body],
      statements: await Promise.all(
        statements.slice(since.statements).map(async ({ text, keys }) => [text, await keys]),
      ),
      compared: compared.slice(since.compared),
    };
  };

  const known = await ask(`Bearer vck_${keyId}.${wrong}`);
  assert.equal(known.answer[0], 401);
  assert.deepEqual(
    known.statements.map(([, keys]) => keys),
    [1],
  );
  assert.deepEqual(known.compared, [[64, 64]]);
  assert.deepEqual(await ask(`Bearer vck_${"0".repeat(20)}.${wrong}`), known);
  assert.deepEqual(await ask(`Bearer vck_${revoked.keyId}.${wrong}`), known);
  assert.deepEqual(await ask(revoked.authorization), known);
  assert.equal((await ask(`Bearer ${token}`)).answer[0], 200);
});

test("the row compared for an unknown key is not a credential", async (t) => {
  const { aKeyWith } = startPartnerApi(t, db);
  const { keyId } = await aKeyWith();
  const secretHash = hashSecret("A".repeat(43));
  const presented = ["0".repeat(20), keyId, "1".repeat(20)].map((keyId) => ({
    keyId,
    secretHash,
    requests: 1,
  }));
  const now = new Date();
  const found = await admitKeys(db, presented, { now, expired: now });
  assert.deepEqual(columns(found, "keyId", "isCounted"), [[keyId, false]]);
});

test("only the request with the right secret passes and is counted among many wrong ones", async (t) => {
  const { deps, aKeyWith, anOrganization, aKeyOf } = startPartnerApi(t, db);
  const key = await aKeyOf(await anOrganization({ rateLimitPerMinute: 2 }));
  const other = await aKeyWith();
  const wrong = `vck_${key.keyId}.${"A".repeat(43)}`;
  const ask = async (authorization: string) => {
    try {
      return (await admit(deps, authorization)).allowance.remaining;
    } catch {
      return null;
    }
  };
  const tokens = [wrong, key.token, wrong, other.token, key.token, wrong, key.token];
  const left = await Promise.all(tokens.map(ask));
  assert.deepEqual(left, [null, 1, null, 599, 0, null, 0]);
  assert.equal(await ask(key.token), 0);
});

interface Statement {
  text: string;
  /** The number of keys that a look-up of keys returns. */
  keys: Promise<number> | null;
}

/** The same database, which records every statement. */
function recording(database: Database, statements: Statement[]): Database {
  return new Proxy(database, {
    apply: (target, self, given: unknown[]) => {
      const result = Reflect.apply(target, self, given) as unknown;
      const [strings] = given;
      if (Array.isArray(strings) && "raw" in strings) {
        const text = strings.join("?");
        const isLookUp = text.includes("from api_keys");
        const found = result as Promise<[{ keys: unknown[] }]>;
        statements.push({ text, keys: isLookUp ? found.then(([{ keys }]) => keys.length) : null });
      }
      return result;
    },
    get: (target, property) =>
      property === "within"
        ? (ms: number) => recording(target.within(ms), statements)
        : (Reflect.get(target, property) as unknown),
  });
}
