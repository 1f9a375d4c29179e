import assert from "node:assert/strict";
import { test } from "node:test";
import { revokeApiKey } from "../../src/actions/api-keys.ts";
import type { Database } from "../../src/postgres/database.ts";
import { findActiveCredentials } from "../../src/postgres/api-keys.ts";
import { comparesOf } from "../support/compares.ts";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";

const db = await createDatabase();

test("a key that does not exist costs what a wrong secret costs: the answer, the statements, the compare", async (t) => {
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
        statements.slice(since.statements).map(async ({ text, rows }) => [text, await rows]),
      ),
      compared: compared.slice(since.compared),
    };
  };

  const known = await ask(`Bearer vck_${keyId}.${wrong}`);
  assert.equal(known.answer[0], 401);
  assert.deepEqual(
    known.statements.map(([, rows]) => rows),
    [1],
  );
  assert.deepEqual(known.compared, [[32, 32]]);
  assert.deepEqual(await ask(`Bearer vck_${"0".repeat(20)}.${wrong}`), known);
  assert.deepEqual(await ask(`Bearer vck_${revoked.keyId}.${wrong}`), known);
  assert.deepEqual(await ask(revoked.authorization), known);
  assert.equal((await ask(`Bearer ${token}`)).answer[0], 200);
});

test("what is looked up in place of a key that does not exist is nobody's credential", async (t) => {
  const { aKeyWith } = startPartnerApi(t, db);
  const { keyId } = await aKeyWith();
  const found = await findActiveCredentials(db, ["0".repeat(20), keyId, "1".repeat(20), keyId]);
  assert.deepEqual(
    found.map((credential) => credential.key_id),
    [keyId],
  );
});

interface Statement {
  text: string;
  /** How many rows a look-up of keys answers. */
  rows: Promise<number> | null;
}

/** The same database, with every statement written down. */
function recording(database: Database, statements: Statement[]): Database {
  return new Proxy(database, {
    apply: (target, self, given: unknown[]) => {
      const result = Reflect.apply(target, self, given) as unknown;
      const [strings] = given;
      if (Array.isArray(strings) && "raw" in strings) {
        const text = strings.join("?");
        const isLookUp = text.includes("from api_keys");
        const rows = isLookUp ? (result as Promise<unknown[]>).then((all) => all.length) : null;
        statements.push({ text, rows });
      }
      return result;
    },
  });
}
