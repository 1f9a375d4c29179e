// Depends on: src, test/event-types/libraries
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import ts from "typescript";
import { generateLibrary } from "../../src/event-types/libraries/generate.ts";
import { loadEventTypes } from "../../src/event-types/load.ts";
import { createEventTypes } from "../../src/subjects/event-types/rules.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { aFolder, typeFile } from "../support/event-types.ts";
import { openPort } from "../support/free-port.ts";
import { OPERATORS, startOperatorApi } from "../support/operator-api.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const PROGRAMS = join(ROOT, "test/event-types/libraries");
const db = await createDatabase();

/** A schema with every kind of member. */
const SHIPPED = typeFile(
  {
    type: "object",
    properties: {
      parcel: { type: "string", description: "Its */ number." },
      weight: { type: "number" },
      count: { type: "integer" },
      express: { type: "boolean" },
      state: { enum: ["sent", "lost"] },
      "sent-at": { type: ["string", "null"] },
      tags: { type: "array", items: { type: "string" } },
      labels: { type: "object", additionalProperties: { type: "string" } },
      address: { $ref: "#/$defs/address" },
      items: {
        type: "array",
        items: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
      },
      either: { anyOf: [{ type: "string" }, { type: "integer" }] },
      anything: {},
    },
    required: ["parcel", "count", "sent-at", "address", "items"],
    $defs: {
      address: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
  { parcel: "p", count: 1, "sent-at": null, address: { city: "Bonn" }, items: [{ sku: "a" }] },
);
const NOTED = typeFile({ type: "object" });

/**
 * A library in its own folder, and a service that has its types. The first two requests never reach the
 * service.
 */
async function aLibrary(t: TestContext, language: "ts" | "py" | "go") {
  const types = await aFolder(t, { "parcel.shipped.json": SHIPPED, "note_added.v2.json": NOTED });
  const eventTypes = createEventTypes(await loadEventTypes(types));
  const { deps } = await createEngine(db, { eventTypes });
  const { slug } = await createOrganization(deps, { slug: `org-${language}` });
  const api = startOperatorApi(t, deps);
  const base = await api.app.listen({ host: "127.0.0.1", port: 0 });
  const { bodies, url } = await anUnreliableWay(t, base);

  const folder = await aTemporaryFolder(t);
  const source = await generateLibrary(types, language);
  const publish = async (program: string, args: string[]) => {
    const env = {
      ...process.env,
      OPERATOR_API: url,
      TOKEN: OPERATORS[0]?.token,
      ORGANIZATION: slug,
    };
    const settings = { ...env, GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "" };
    const { stdout } = await execute(program, args, { cwd: folder, env: settings });
    return stdout.trimEnd().split("\n");
  };
  return { folder, source, bodies, publish, slug };
}

/**
 * A proxy that drops the first request and cuts the second answer. It answers the third request with an
 * incomplete 503, and the sixth without JSON.
 */
async function anUnreliableWay(t: TestContext, service: string) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void pass(Buffer.concat(chunks).toString()));
    const pass = async (body: string) => {
      bodies.push(body);
      const turn = bodies.length;
      const { authorization = "" } = request.headers;
      const headers = { authorization, "content-type": "application/json" };
      const target = new URL(request.url ?? "", service);
      const cut = (status: number) => {
        response.writeHead(status, { "content-length": 100, "retry-after": "0" });
        response.write("{", () => request.socket.end());
      };
      if (turn === 1) {
        request.socket.destroy();
        return;
      }
      if (turn === 3) {
        cut(503);
        return;
      }
      const answer = await fetch(target, { method: "POST", headers, body });
      const text = await answer.text();
      if (turn === 2) cut(answer.status);
      else response.writeHead(answer.status).end(turn === 6 ? "<p>refused" : text);
    };
  });
  return { bodies, url: `http://127.0.0.1:${await openPort(t, server)}/` };
}

/** The second attempt publishes the first event. The fourth event is a duplicate by its key. */
function assertPublished(lines: string[], bodies: string[]): void {
  const [retried, batch, refused] = lines;
  assert.match(retried ?? "", /^evt_[0-9a-f-]{36} true$/);
  assert.match(batch ?? "", /^2 false$/);
  assert.match(refused ?? "", /^refused 422$/);
  assert.equal(bodies.length, 6, "four attempts, the batch, and one refused request");
  assert.equal(new Set(bodies.slice(0, 4)).size, 1, "the same key at every attempt");
  assert.match(bodies[0] ?? "", /"dedupe_key": ?"[^"]{16,}"/);
}

test("the TypeScript library refuses wrong data at build time, and publishes once over a bad connection", async (t) => {
  const { folder, source, bodies, publish } = await aLibrary(t, "ts");
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "publisher.ts"), source);
  await copyFile(join(PROGRAMS, "main.ts.txt"), join(folder, "main.ts"));
  const file = join(folder, "main.ts");
  assert.deepEqual(faultsOf(file), []);
  for (const name of ["publisher", "main"]) {
    const text = ts.sys.readFile(join(folder, `${name}.ts`)) ?? "";
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    await writeFile(
      join(folder, `${name}.mjs`),
      outputText.replace("./publisher.js", "./publisher.mjs"),
    );
  }
  assertPublished(await publish(process.execPath, ["main.mjs"]), bodies);
  const wrong = "parcel: 7";
  await writeFile(file, (ts.sys.readFile(file) ?? "").replace('parcel: "p"', wrong));
  assert.match(faultsOf(file).join("\n"), /number.*not assignable to type.*string/);
});

function faultsOf(file: string): string[] {
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
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

test("the Python library publishes once over a bad connection", async (t) => {
  if (!(await requireProgram(t, "python3", ["-c", "from typing import NotRequired"]))) return;
  const { folder, source, bodies, publish } = await aLibrary(t, "py");
  await writeFile(join(folder, "publisher.py"), source);
  await copyFile(join(PROGRAMS, "main.py"), join(folder, "main.py"));
  assertPublished(await publish("python3", ["-B", "main.py"]), bodies);
});

test("the Go library publishes once over a bad connection", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const { folder, source, bodies, publish } = await aLibrary(t, "go");
  await mkdir(join(folder, "events"));
  await writeFile(join(folder, "events/events.go"), source);
  await copyFile(join(PROGRAMS, "main.go"), join(folder, "main.go"));
  await writeFile(join(folder, "go.mod"), "module publisher\n\ngo 1.19\n");
  assert.deepEqual(await publish("go", ["vet", "./..."]), [""]);
  assertPublished(await publish("go", ["run", "."]), bodies);
});

test("no library is generated from a folder with faults, and all faults are named", async (t) => {
  const folder = await aFolder(t, { "a.b.json": { summary: 1 }, "c.d.json": NOTED });
  await assert.rejects(generateLibrary(folder, "ts"), /a\.b\.json/);
  for (const language of ["ts", "py", "go"] as const)
    await assert.rejects(generateLibrary(await aFolder(t, {}), language), /: holds no event type$/);
});

/** What the library's types are, without the code. */
async function typesOf(
  t: TestContext,
  schema: object,
  {
    language = "ts",
    example = {},
    files = {},
  }: {
    language?: "ts" | "py" | "go";
    example?: object;
    files?: Record<string, object>;
  } = {},
): Promise<string> {
  const folder = await aFolder(t, { "a.b.json": typeFile(schema, example), ...files });
  const source = await generateLibrary(folder, language);
  return (
    /begin types|Types of the events\.\n([^]*?)\n\n(?:export type EventType |Published|\/\/ NewEvent)/.exec(
      source,
    )?.[1] ?? ""
  );
}

const TEXT = { type: "string" };

const CONTACT = {
  type: "object",
  properties: { email: { type: "string" }, phone: { type: "string" } },
};

test("alternatives that only require members leave the members typed", async (t) => {
  const either = ["email", "phone"].map((name) => ({ required: [name] }));
  for (const further of [{ anyOf: either }, { oneOf: either }, { allOf: [{ anyOf: either }] }]) {
    const types = await typesOf(t, { ...CONTACT, ...further }, { example: { email: "e" } });
    assert.match(types, /"email"\?: string;\s+"phone"\?: string;/);
  }
  const own = {
    anyOf: [
      { properties: { fax: { type: "string" } }, required: ["fax"] },
      { required: ["email"] },
    ],
  };
  assert.match(
    await typesOf(t, { ...CONTACT, ...own }, { example: { email: "e" } }),
    /"email"\?: string;/,
  );
});

test("every part of an `allOf` adds its members, also beside alternatives", async (t) => {
  const either = { anyOf: ["email", "phone"].map((name) => ({ ...CONTACT, required: [name] })) };
  const kind = { properties: { kind: { enum: ["a", "b"] } }, required: ["kind"] };
  const parts = { allOf: [{ $ref: "#/$defs/base" }, kind, either, { properties: { kind: TEXT } }] };
  const base = {
    properties: { at: TEXT, note: { anyOf: [TEXT, { enum: ["c"] }] } },
    required: ["at"],
  };
  const schema = { ...parts, $defs: { base: { type: "object", ...base } } };
  const example = { at: "now", kind: "a", email: "e" };
  assert.match(
    await typesOf(t, schema, { example }),
    /\{\s+"at": string;\s+"note"\?: string;\s+"kind": "a" \| "b";\s+"email": string;\s+"phone"\?: string;\s+\} \| \{\s+"at": string;[^}]+"email"\?: string;\s+"phone": string;\s+\}/,
  );
  assert.match(
    await typesOf(t, schema, { example, language: "go" }),
    /At string .*\n[^]*Note \*string .*\n[^]*Kind string .*\n[^]*Email \*string/,
  );
});

test("no member is lost among many alternatives, or two lists of them", async (t) => {
  const oneOf = (prefix: string, count: number) => ({
    oneOf: Array.from({ length: count }, (_, i) => ({
      ...{ type: "object", properties: { [`${prefix}${i}`]: TEXT }, required: [`${prefix}${i}`] },
    })),
  });
  const at = { properties: { at: TEXT }, required: ["at"] };
  for (const lists of [[oneOf("a", 13)], [oneOf("a", 4), oneOf("b", 4)]]) {
    const schema = { allOf: [at, ...lists] };
    const example = { at: "now", a0: "x", ...(lists.length > 1 && { b3: "x" }) };
    const types = await typesOf(t, schema, { example });
    for (const name of Object.keys(example))
      assert.match(types, new RegExp(`"${name}"\\??: string;`));
    const go = await typesOf(t, schema, { example, language: "go" });
    for (const name of Object.keys(example)) assert.match(go, new RegExp(`json:"${name}[",]`));
  }
});

test("definitions that several places share are named types, written once", async (t) => {
  const schema = {
    properties: {
      from: { $ref: "#/$defs/address" },
      to: { anyOf: [{ $ref: "#/$defs/address" }, { type: "null" }] },
      once: { $ref: "#/$defs/once" },
      lists: { type: "array", items: { type: "array", items: { $ref: "#/$defs/node" } } },
    },
    required: ["from"],
    $defs: {
      address: { type: "object", properties: { city: { type: "string" } } },
      once: { type: "object", properties: { city: { type: "string" } } },
      node: { type: "object", properties: { next: { $ref: "#/$defs/node" } }, required: ["next"] },
    },
  };
  const { once, ...twice } = schema.properties;
  assert.ok(once);
  const files = { "c.d.json": typeFile({ ...schema, properties: twice }, { from: {} }) };
  const wrap = { ...schema, required: [] };
  const typescript = await typesOf(t, wrap, { files });
  assert.equal(typescript.match(/export type Address = /g)?.length, 1);
  assert.match(typescript, /"from"\?: Address;/);
  assert.match(typescript, /"to"\?: Address \| null;/);
  assert.match(typescript, /"lists"\?: ReadonlyArray<readonly Node\[\]>;/);
  assert.doesNotMatch(typescript, /Once/);
  assert.match(await typesOf(t, wrap, { language: "py", files }), /"next": "Node",/);
  const go = await typesOf(t, wrap, { language: "go", files });
  assert.equal(go.match(/type Address struct/g)?.length, 1);
  assert.match(go, /Next \*Node `json:"next"`/);
  assert.match(go, /To Nullable\[Address\]/);
});

/** Schemas that name members elsewhere than in `properties`, or permit others, each with data. */
const NAMED_ELSEWHERE: [schema: Record<string, unknown>, ...data: [object, ...object[]]][] = [
  [
    {
      ...CONTACT,
      ...{ if: { properties: { kind: { const: "fax" } }, required: ["kind"] } },
      ...{ then: { properties: { fax: TEXT } }, else: { $ref: "#/$defs/mail" } },
      $defs: { mail: { oneOf: [{ properties: { street: TEXT } }, { properties: { box: TEXT } }] } },
    },
    { kind: "fax", fax: "1" },
    { email: "e", box: "7" },
  ],
  [
    { ...CONTACT, allOf: [{ if: { required: ["phone"] }, then: { properties: { hours: TEXT } } }] },
    { phone: "1", hours: "9 to 5" },
  ],
  [
    { ...CONTACT, dependentSchemas: { email: { properties: { format: TEXT } } } },
    { email: "e", format: "html" },
  ],
  [
    { ...CONTACT, required: ["id"], allOf: [{ required: ["id"] }] },
    { id: 7, email: "e" },
  ],
  [
    {
      ...CONTACT,
      anyOf: [{ properties: { fax: TEXT }, required: ["fax"] }, { required: ["email"] }],
    },
    { fax: "1" },
  ],
  [
    {
      type: "object",
      anyOf: [{ properties: { a: TEXT }, required: ["a"] }],
      oneOf: [{ properties: { b: TEXT }, required: ["b"] }],
    },
    { a: "a", b: "b" },
  ],
  [
    {
      properties: {
        pair: {
          type: "array",
          prefixItems: [TEXT, { type: "number" }],
          items: { type: "boolean" },
        },
        point: { type: "array", prefixItems: [{ type: "number" }], items: false },
        labels: {
          ...{ type: "object", patternProperties: { "^x-": TEXT } },
          additionalProperties: { type: "integer" },
        },
      },
    },
    { pair: ["a", 1.5, true], point: [7.5], labels: { "x-a": "a", n: 1 } },
  ],
  [{ ...CONTACT, additionalProperties: TEXT }, { email: "e", colour: "red" }, { email: "e" }],
  [
    {
      ...CONTACT,
      patternProperties: { "^x-": { $ref: "#/$defs/part" } },
      additionalProperties: false,
      $defs: {
        part: {
          type: "object",
          properties: { part: { $ref: "#/$defs/part" } },
          additionalProperties: true,
        },
      },
    },
    { phone: "1", "x-a": { part: { further: [1] }, n: null } },
  ],
  [
    {
      type: "object",
      allOf: [CONTACT, { properties: { further: TEXT } }],
      unevaluatedProperties: { type: "integer" },
    },
    { email: "e", further: "f", n: 1 },
  ],
  [
    { properties: { MarshalJSON: TEXT, UnmarshalJSON: TEXT }, additionalProperties: true },
    { MarshalJSON: "m", UnmarshalJSON: "u", n: 1 },
  ],
  [{ properties: { "m²": { type: "number" }, Ⅷ: TEXT } }, { "m²": 81.5, Ⅷ: "8" }],
];

test("data is of its type in TypeScript and Go, wherever its schema names or permits members", async (t) => {
  const folder = await aTemporaryFolder(t);
  const types = NAMED_ELSEWHERE.map(([schema, example], i) => [
    `a.n${i}.json`,
    typeFile(schema, example),
  ]);
  const from = await aFolder(t, Object.fromEntries(types) as Record<string, object>);
  const all = NAMED_ELSEWHERE.flatMap(([, ...data], i) =>
    data.map((one) => ({ type: `a.n${i}`, data: one })),
  );

  await writeFile(join(folder, "publisher.ts"), await generateLibrary(from, "ts"));
  const typed = all.map(
    ({ type, data }, i) => `export const d${i}: EventData["${type}"] = ${JSON.stringify(data)};`,
  );
  const file = join(folder, "data.ts");
  await writeFile(file, ['import type { EventData } from "./publisher.js";', ...typed].join("\n"));
  assert.deepEqual(faultsOf(file), []);

  if (!(await requireProgram(t, "go", ["version"]))) return;
  await mkdir(join(folder, "events"));
  await writeFile(join(folder, "events/events.go"), await generateLibrary(from, "go"));
  await writeFile(join(folder, "go.mod"), "module publisher\n\ngo 1.19\n");
  const readers = NAMED_ELSEWHERE.map((_, i) => `"a.n${i}": copyOf[events.AN${i}],`);
  await writeFile(join(folder, "main.go"), COPY.replace("READERS", readers.join("\n")));
  await writeFile(join(folder, "data.json"), JSON.stringify(all));
  const env = { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "" };
  await execute("go", ["vet", "./..."], { cwd: folder, env });
  const { stdout } = await execute("go", ["run", "."], { cwd: folder, env });
  assert.deepEqual(JSON.parse(stdout), all);
});

/** Reads each event into its type, and writes it again. */
const COPY = `package main

import (
	"encoding/json"
	"os"

	"publisher/events"
)

type event struct {
	Type string          \`json:"type"\`
	Data json.RawMessage \`json:"data"\`
}

var readers = map[string]func([]byte) []byte{
READERS
}

func copyOf[T events.Data](text []byte) []byte {
	var data T
	check(json.Unmarshal(text, &data))
	copied, err := json.Marshal(data)
	check(err)
	return copied
}

func main() {
	text, err := os.ReadFile("data.json")
	check(err)
	var all []event
	check(json.Unmarshal(text, &all))
	for i, one := range all {
		all[i].Data = readers[one.Type](one.Data)
	}
	check(json.NewEncoder(os.Stdout).Encode(all))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`;

test("a byte order mark in a text, and a number that is no integer of Python, compile", async (t) => {
  const schema = { properties: { a: { enum: [1, 1e21], description: "one\ufeff line" } } };
  const types = await aFolder(t, {
    "a.b.json": { ...typeFile(schema, { a: 1 }), summary: "\ufeffPasted from\ufeff a document" },
  });
  assert.doesNotMatch(await generateLibrary(types, "go"), /\ufeff/);
  assert.match(await generateLibrary(types, "py"), /"a": NotRequired\[float\]/);
});
