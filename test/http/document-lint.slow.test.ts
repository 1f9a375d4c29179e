// Depends on: src, spectral
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
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

type Faults = Record<keyof typeof documents, string[]>;

const partners = async (types: object) => {
  const options = { baseUrl: () => "https://partners.test" };
  const api = startPartnerApi({ after }, deps.db, { options, ...types });
  return (await api.inject({ url: "/api/v1/partner/openapi.json" })).body;
};
const operators = async () => {
  const api = startOperatorApi({ after }, deps);
  return (await api.ask({ url: "openapi.json", authorization: null })).text;
};
const documents = {
  partners: await partners({}),
  "partners with event types": await partners({ eventTypes }),
  operators: await operators(),
  faulty: '{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{}}',
};

for (const [name, lint] of Object.entries({ Redocly: redocly, Spectral: spectral })) {
  test(`${name} finds nothing in the documents of partners and operators, and a fault in a faulty one`, async (t) => {
    if (lint === spectral && !existsSync(SPECTRAL)) {
      skipOrFail(t, "npm ci --prefix spectral installs Spectral");
      return;
    }
    const { faulty, ...found } = await lint(t);
    for (const [document, faults] of Object.entries(found)) assert.deepEqual(faults, [], document);
    assert.notDeepEqual(faulty, []);
  });
}

/** One after the other, because runs at the same time share one validator and mix up their documents. */
async function redocly(): Promise<Faults> {
  const config = await createConfig({ extends: ["recommended"] });
  const faults: Partial<Faults> = {};
  for (const [name, source] of Object.entries(documents)) {
    const found = await lintFromString({ source, config });
    faults[name as keyof Faults] = found.map(
      ({ ruleId, message, location: [at] }) => `${ruleId} ${at?.pointer} ${message}`,
    );
  }
  return faults as Faults;
}

/** Findings of every severity, hints too. One run reads all documents, because its start takes longest. */
async function spectral(t: TestContext): Promise<Faults> {
  const folder = await aTemporaryFolder(t);
  const rules = join(folder, "rules.json");
  await writeFile(rules, '{ "extends": ["spectral:oas"] }');
  const names = Object.keys(documents) as (keyof Faults)[];
  const fileOf = (name: string) => join(folder, `${name.replaceAll(" ", "-")}.openapi.json`);
  for (const name of names) await writeFile(fileOf(name), documents[name]);
  const args = ["lint", "--quiet", "--format=json", `--ruleset=${rules}`, ...names.map(fileOf)];
  const said = await new Promise<string>((resolve) => {
    execFile(SPECTRAL, args, (_error, stdout) => resolve(stdout)); // Its status is 1 after a finding.
  });
  const found = JSON.parse(said) as Finding[];
  const faultsOf = (name: string) =>
    found
      .filter(({ source }) => source === fileOf(name))
      .map(({ code, path, message }) => `${code} ${path.join("/")} ${message}`);
  return Object.fromEntries(names.map((name) => [name, faultsOf(name)])) as Faults;
}

interface Finding {
  source: string;
  code: string;
  path: string[];
  message: string;
}
