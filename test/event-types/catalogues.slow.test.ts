// Depends on: src

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import ts from "typescript";
import { createEventTypes } from "../../src/domain/event-types.ts";
import { findBreakingChanges } from "../../src/event-types/compare.ts";
import { generateLibrary } from "../../src/event-types/libraries/generate.ts";
import { loadFolder } from "../../src/event-types/load.ts";
import { fieldsOf } from "../../src/http/docs/event-fields.ts";
import { webhooksOf } from "../../src/http/partner/webhooks.ts";
import { createDatabase } from "../support/database.ts";
import { aFolder } from "../support/event-types.ts";
import { aPublisherApi } from "../support/publisher-api.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const db = await createDatabase();

interface Catalogue {
  packages: string[];
  annotations: string[];
  filesOf: (read: (path: string) => Promise<unknown>) => Promise<Record<string, object>>;
}

type Schema = Record<string, unknown>;
interface Example {
  name: string;
  description?: string;
  examples: ({ action?: string } & object)[];
}

/** GitHub's webhooks: the newest example of each type. One of them breaks its own schema. */
const GITHUB: Catalogue = {
  packages: ["@octokit/webhooks-schemas@7.6.1", "@octokit/webhooks-examples@7.6.1"],
  annotations: ["tsAdditionalProperties"],
  async filesOf(read) {
    const { definitions } = (await read("@octokit/webhooks-schemas/schema.json")) as {
      definitions: Record<string, Schema>;
    };
    const index = "@octokit/webhooks-examples/api.github.com/index.json";
    const events = (await read(index)) as Example[];
    const files: Record<string, object> = {};
    for (const { name, examples } of events) {
      for (const example of examples) {
        const { action } = example;
        const found = [`${name}$${action ?? "event"}`, `${name}_event`].find(
          (key) => key in definitions,
        );
        const schema = definitions[found ?? ""];
        if (!schema || "oneOf" in schema) continue;
        const type = ["github", name, ...(action === undefined ? [] : [action])].join(".");
        const own = Object.fromEntries(
          [...reached(schema, definitions)].map((key) => [key, definitions[key]]),
        );
        files[`${type}.json`] = { summary: name, schema: { ...schema, definitions: own }, example };
      }
    }
    delete files["github.check_run.rerequested.json"];
    return files;
  },
};

function reached(
  schema: unknown,
  definitions: Record<string, Schema>,
  found = new Set<string>(),
): Set<string> {
  for (const [, name = ""] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    reached(definitions[name], definitions, found);
  }
  return found;
}

/** The files of a catalogue from its packages. Null where the registry cannot be reached. */
async function aCatalogue(t: TestContext, { packages, filesOf }: Catalogue): Promise<string> {
  const folder = await aTemporaryFolder(t);
  await writeFile(join(folder, "package.json"), "{}");
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await execute("npm", ["install", ...flags, ...packages], { cwd: folder });
  const read = async (path: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, "node_modules", path), "utf8"));
  return aFolder(t, await filesOf(read));
}

test("GitHub's catalogue of webhooks loads, and its libraries compile", async (t) => {
  const { annotations } = GITHUB;
  const folder = await aCatalogue(t, GITHUB);
  const { types: loaded, definitions, faults } = await loadFolder(folder, annotations); // Takes seconds.
  assert.deepEqual(faults, []);
  assert.ok(loaded.length > 150, `${loaded.length} types`);
  assert.deepEqual(findBreakingChanges(definitions, definitions), []);

  const types = createEventTypes(loaded);
  for (const type of loaded) assert.ok(fieldsOf(type, types).length > 0, type.name);
  const { schemas } = webhooksOf(types);
  const size = JSON.stringify(schemas).length;
  assert.ok(size < 1_000_000, `the schemas of the API document have ${size} characters`);

  const library = await aTemporaryFolder(t);
  const source = await generateLibrary(folder, "ts", annotations);
  assert.ok(source.split("\n").length < 10_000);
  await writeFile(join(library, "publisher.ts"), source);
  assert.deepEqual(faultsOf(join(library, "publisher.ts")), []);

  await writeFile(join(library, "publisher.py"), await generateLibrary(folder, "py", annotations));
  if (await requireProgram(t, "python3", ["-c", "from typing import NotRequired"])) {
    await execute("python3", ["-B", "-c", "import publisher"], { cwd: library });
  }
  await mkdir(join(library, "events"));
  await writeFile(
    join(library, "events/events.go"),
    await generateLibrary(folder, "go", annotations),
  );
  await writeFile(join(library, "go.mod"), "module publisher\n\ngo 1.19\n");
  if (await requireProgram(t, "go", ["version"])) {
    const env = { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "" };
    await execute("go", ["vet", "./..."], { cwd: library, env });
  }

  const api = await aPublisherApi(t, db, types);
  for (const { name, example } of loaded) {
    const answer = await api.post({ organization: api.slug, type: name, data: example });
    assert.equal(answer.status, 202, answer.text);
    const [row] = await db<[{ data: string }]>`
      select data from events where organization_id = ${api.id} order by id desc limit 1`;
    assert.deepEqual(JSON.parse(row.data), example, name);
  }
});

function faultsOf(file: string): string[] {
  const program = ts.createProgram([file], {
    ...{ strict: true, noEmit: true, skipLibCheck: true, exactOptionalPropertyTypes: true },
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules/@types")],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
