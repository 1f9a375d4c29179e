// Depends on: src

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { compileTypes } from "../../src/event-types/compile.ts";
import type { FileFault } from "../../src/event-types/definition.ts";
import { toDraft2020 } from "../../src/event-types/dialect.ts";
import { requireProgram } from "../support/required.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { define, type Schema } from "./schemas.ts";

const execute = promisify(execFile);
/** This package of PyPI holds the official test suite of JSON Schema. Those of npm hold none of 2020-12. */
const SUITE = "jsonschema==4.25.1";

interface Case {
  description: string;
  schema: Schema | boolean;
  tests: { description: string; data: unknown; valid: boolean }[];
}

const NOTHING_IS_FETCHED =
  "Nothing is fetched: a reference leads to a type or to an $id of the folder.";
const NOT_EVALUATED = "The validator does not implement it, so it is refused.";

/** Cases that are refused, or whose results differ, and why. */
const DIFFERENCES: Record<string, string> = {
  "defs.json: validate definition against metaschema": NOTHING_IS_FETCHED,
  "ref.json: remote ref, containing refs itself": NOTHING_IS_FETCHED,
  "refRemote.json: remote HTTP ref with different $id": NOTHING_IS_FETCHED,
  "refRemote.json: remote HTTP ref with different URN $id": NOTHING_IS_FETCHED,
  "properties.json: properties whose names are Javascript object property names":
    "Data with a member __proto__ is refused before.",
  "unevaluatedItems.json: unevaluatedItems with nested items": NOT_EVALUATED,
  "unevaluatedItems.json: unevaluatedItems depends on adjacent contains": NOT_EVALUATED,
  "unevaluatedItems.json: unevaluatedItems depends on multiple nested contains": NOT_EVALUATED,
  "unevaluatedItems.json: unevaluatedItems and contains interact to control item dependency relationship":
    NOT_EVALUATED,
  "unevaluatedItems.json: unevaluatedItems can see annotations from if without then and else":
    NOT_EVALUATED,
  "vocabulary.json: schema that uses custom metaschema with with no validation vocabulary":
    "$schema names a draft.",
  "vocabulary.json: ignore unrecognized optional vocabulary": "$schema names a draft.",
};

test("schemas are valid and validate as the official test suite says, but for known differences", async (t) => {
  if (!(await requireProgram(t, "python3", ["-m", "pip", "--version"]))) return;
  const suite = await theSuite(t);
  const folder = join(suite, "tests/draft2020-12");
  const remotes = await remotesOf(join(suite, "remotes"));
  const differing = new Set<string>();
  let agreeing = 0;
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".json"))) {
    for (const one of JSON.parse(await readFile(join(folder, file), "utf8")) as Case[]) {
      if (typeof one.schema === "boolean") continue; // A type's schema is an object.
      if (await agrees(one.schema, one.tests, remotes)) agreeing++;
      // Formats are checked.
      else if (file !== "format.json") differing.add(`${file}: ${one.description}`);
    }
  }
  assert.deepEqual([...differing].toSorted(), Object.keys(DIFFERENCES).toSorted());
  assert.ok(agreeing > 300, `${agreeing} cases agree`);
});

async function agrees(
  schema: Schema,
  tests: Case["tests"],
  remotes: Map<string, Schema>,
): Promise<boolean> {
  const faults: FileFault[] = [];
  const tell = (pointer: string, detail: string) =>
    faults.push({ file: null, detail: pointer + detail });
  const translated = toDraft2020(schema, { isAnnotation: () => false, tell });
  const further = [...reachable(schema, remotes)].map((one, i) => define(one, `r.r${i}`));
  const types = await compileTypes([define(translated, "s.s"), ...further], faults);
  const type = types.find(({ name }) => name === "s.s");
  if (!type || faults.length > 0) return false;
  return tests.every(({ data, valid }) => (type.faultsOf(data).length === 0) === valid);
}

/** The remote schemas that a schema mentions, directly or not. */
function reachable(
  schema: Schema,
  remotes: Map<string, Schema>,
  found = new Set<Schema>(),
): Set<Schema> {
  const text = JSON.stringify(schema);
  if (found.size === 0 && !text.includes("localhost:1234")) return found;
  for (const [url, remote] of remotes) {
    if (found.has(remote) || !text.includes(url.split("/").at(-1) ?? "")) continue;
    found.add(remote);
    reachable(remote, remotes, found);
  }
  return found;
}

async function theSuite(t: TestContext): Promise<string> {
  const folder = await aTemporaryFolder(t);
  const args = [
    "download",
    "--quiet",
    "--no-deps",
    "--no-binary",
    ":all:",
    "--dest",
    folder,
    SUITE,
  ];
  await execute("python3", ["-m", "pip", ...args]);
  const [archive = ""] = await readdir(folder);
  await execute("tar", ["xzf", archive], { cwd: folder });
  return join(folder, archive.replace(".tar.gz", ""), "json");
}

async function remotesOf(folder: string): Promise<Map<string, Schema>> {
  const remotes = new Map<string, Schema>();
  for (const path of await readdir(folder, { recursive: true })) {
    // Those of other drafts are in folders of their own.
    if (!/^(draft2020-12\/.*|[^/]*)\.json$/.test(path)) continue;
    const $id = `http://localhost:1234/${path}`;
    const schema = JSON.parse(await readFile(join(folder, path), "utf8")) as Schema;
    remotes.set($id, { $id, ...schema });
  }
  return remotes;
}
