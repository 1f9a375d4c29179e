import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aPlatformsTypes } from "../support/platform-types.ts";

const eventTypes = aPlatformsTypes();
const { deps } = await createEngine(await createDatabase(), { eventTypes });

async function faultsOf(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const found = await lintFromString({ source, config });
  return found.map(({ ruleId, message, location: [at] }) => `${ruleId} ${at?.pointer} ${message}`);
}

test("Redocly finds nothing in the partners' document", async (t) => {
  const options = { baseUrl: () => "https://partners.test" };
  for (const types of [{}, { eventTypes }]) {
    const api = startPartnerApi(t, deps.db, { options, ...types });
    const { body } = await api.inject({ url: "/api/v1/partner/openapi.json" });
    assert.deepEqual(await faultsOf(body), []);
  }
});

test("Redocly finds nothing in the operators' document", async (t) => {
  const { text } = await startOperatorApi(t, deps).ask({
    url: "openapi.json",
    authorization: null,
  });
  assert.deepEqual(await faultsOf(text), []);
});

test("Redocly finds a fault", async () => {
  const faults = await faultsOf(
    '{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{}}',
  );
  assert.ok(faults.length > 0);
});
