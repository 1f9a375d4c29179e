import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aPlatformsTypes } from "../support/platform-types.ts";
import { skipOrFail } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const eventTypes = aPlatformsTypes();
const { deps } = await createEngine(await createDatabase(), { eventTypes });
const SPECTRAL = join(ROOT, "spectral/node_modules/.bin/spectral");

const LINTERS = { Redocly: redocly, Spectral: spectral };

for (const [name, faultsOf] of Object.entries(LINTERS)) {
  const isHere = (t: TestContext) => {
    if (faultsOf !== spectral || existsSync(SPECTRAL)) return true;
    skipOrFail(t, "npm ci --prefix spectral installs Spectral");
    return false;
  };

  test(`${name} finds nothing in the partners' document`, async (t) => {
    if (!isHere(t)) return;
    const options = { baseUrl: () => "https://partners.test" };
    for (const types of [{}, { eventTypes }]) {
      const api = startPartnerApi(t, deps.db, { options, ...types });
      const { body } = await api.inject({ url: "/api/v1/partner/openapi.json" });
      assert.deepEqual(await faultsOf(t, body), []);
    }
  });

  test(`${name} finds nothing in the operators' document`, async (t) => {
    if (!isHere(t)) return;
    const operator = startOperatorApi(t, deps);
    const { text } = await operator.ask({ url: "openapi.json", authorization: null });
    assert.deepEqual(await faultsOf(t, text), []);
  });

  test(`${name} finds a fault`, async (t) => {
    if (!isHere(t)) return;
    const bare = '{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{}}';
    assert.notDeepEqual(await faultsOf(t, bare), []);
  });
}

async function redocly(_: TestContext, source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const found = await lintFromString({ source, config });
  return found.map(({ ruleId, message, location: [at] }) => `${ruleId} ${at?.pointer} ${message}`);
}

/** Findings of every severity, hints too. */
async function spectral(t: TestContext, source: string): Promise<string[]> {
  const folder = await aTemporaryFolder(t);
  const [document, rules] = [join(folder, "openapi.json"), join(folder, "rules.json")];
  await writeFile(document, source);
  await writeFile(rules, '{ "extends": ["spectral:oas"] }');
  const args = ["lint", "--quiet", "--format=json", `--ruleset=${rules}`, document];
  const said = await new Promise<string>((resolve) => {
    execFile(SPECTRAL, args, (_error, stdout) => resolve(stdout)); // Its status is 1 after a finding.
  });
  const found = JSON.parse(said) as { code: string; path: string[]; message: string }[];
  return found.map(({ code, path, message }) => `${code} ${path.join("/")} ${message}`);
}
