import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const db = await createDatabase();
const CALLS = join(ROOT, "test/generated-clients");

const PYTHON_GENERATOR = "openapi-python-client==0.29.1";
/** The generator's goal needs a project. */
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>generated</groupId><artifactId>generated</artifactId><version>1</version>
</project>
`;
const GO_PARTNERS = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";
const OGEN = "github.com/ogen-go/ogen/cmd/ogen@v1.25.0";
const TYPESCRIPT_GENERATORS = [
  "@hey-api/openapi-ts@0.99.0",
  "openapi-typescript@7.13.0",
  "orval@8.38.0",
  "openapi-fetch@0.17.0",
  "@types/node@20",
  "esbuild@0.28.2",
  "typescript@5.9.3",
];
const DOWN_CONVERT = "@apiture/openapi-down-convert@0.14.2";
const PROGENITOR = "cargo-progenitor@0.15.1";
const OPENAPI_GENERATOR = "org.openapitools:openapi-generator-maven-plugin:7.25.0";

/** A running service, a key for it, and an empty folder with its document. */
async function aWorkshop(t: TestContext) {
  let base = "";
  const api = startPartnerApi(t, db, { options: { baseUrl: () => base } });
  base = (await api.listen()).replace(/\/$/, "");
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const folder = await aTemporaryFolder(t);
  const response = await fetch(`${base}/api/v1/partner/openapi.json`);
  await writeFile(join(folder, "openapi.json"), await response.text());
  const env = { ...process.env, TOKEN: authorization.replace("Bearer ", "") };
  const run = async (program: string, ...args: string[]) => {
    const { stdout } = await execute(program, args, { cwd: folder, env });
    return { lines: stdout.trimEnd().split("\n"), output: stdout };
  };
  const me = await api.inject({ url: "/api/v1/partner/me", headers: { authorization } });
  return {
    base,
    folder,
    run,
    slug: me.json<{ partner_org: string }>().partner_org,
  };
}

/** What the programs print of the first five calls. */
const madeBy = (slug: string) => [
  `getIdentity ${slug}`,
  "createSubscription whsec_",
  "listSubscriptions true",
  "sendTestEvent true",
  "listFailures [] true",
];

test("a client by openapi-python-client calls all six operations", async (t) => {
  if (!(await requireProgram(t, "python3", ["-m", "venv", "--help"]))) return;
  const { base, folder, run, slug } = await aWorkshop(t);
  await run("python3", "-m", "venv", "venv");
  await run("venv/bin/pip", "install", "--quiet", PYTHON_GENERATOR);
  const generator = join(folder, "venv/bin/openapi-python-client");
  const made = await run(generator, "generate", "--path", "openapi.json", "--meta", "none");
  assert.doesNotMatch(made.output, /Unable to process|removal of/);

  await copyFile(join(CALLS, "calls.py"), join(folder, "calls.py"));
  const { lines } = await run("venv/bin/python", "calls.py", base);
  assert.deepEqual(lines, [
    `getIdentity ${slug}`,
    "createSubscription whsec_",
    "listSubscriptions True",
    "sendTestEvent True",
    "listFailures [] None",
    "deleteSubscription 204",
    "a problem not_found",
  ]);
});

test("a client by openapi-generator for Java calls all six operations", async (t) => {
  if (!(await requireProgram(t, "mvn", ["--version"]))) return;
  const { base, folder, run, slug } = await aWorkshop(t);
  await generate({ folder, run }, "java", ["library", "native"]);

  await copyFile(join(CALLS, "Calls.java"), join(folder, "client/src/main/java/Calls.java"));
  const output = await runJava(run, "Calls", base);
  for (const line of [
    `getIdentity ${slug}`,
    "createSubscription whsec_",
    "listSubscriptions true",
    "sendTestEvent true",
    "listFailures [] null",
    "deleteSubscription",
    "a problem 404",
  ]) {
    assert.ok(output.includes(`${line}\n`), `${line}: ${output}`);
  }
});

test("a client by openapi-generator for Kotlin calls all six operations", async (t) => {
  if (!(await requireProgram(t, "mvn", ["--version"]))) return;
  const { base, folder, run, slug } = await aWorkshop(t);
  await generate({ folder, run }, "kotlin");
  // The generator writes a build for Gradle alone.
  await copyFile(join(CALLS, "kotlin.pom.xml"), join(folder, "client/pom.xml"));
  await copyFile(join(CALLS, "Calls.kt"), join(folder, "client/src/main/kotlin/Calls.kt"));
  const output = await runJava(run, "CallsKt", base);
  for (const line of [...madeBy(slug), "deleteSubscription", "a problem 404"]) {
    assert.ok(output.includes(`${line}\n`), `${line}: ${output}`);
  }
});

/** Compiles the folder `client`, runs its main class, and returns what both print. */
async function runJava(run: Workshop["run"], main: string, base: string): Promise<string> {
  const options = [`-Dexec.mainClass=${main}`, `-Dexec.args=${base}`];
  const goals = ["compile", "org.codehaus.mojo:exec-maven-plugin:3.5.0:java"];
  const { output } = await run("mvn", "-q", "-B", "-f", "client/pom.xml", ...goals, ...options);
  return output;
}

test("a client by openapi-generator for Rust calls all six operations", async (t) => {
  if (!(await requireProgram(t, "mvn", ["--version"]))) return;
  if (!(await requireProgram(t, "cargo", ["--version"]))) return;
  const { base, folder, run, slug } = await aWorkshop(t);
  await generate({ folder, run }, "rust");

  await copyFile(join(CALLS, "calls.rs"), join(folder, "client/src/main.rs"));
  assert.deepEqual(await runRust(run, base), [
    ...madeBy(slug),
    "deleteSubscription",
    "a problem error in response: status code 404 Not Found",
  ]);
});

test("a client by progenitor calls all six operations of the document in OpenAPI 3.0", async (t) => {
  if (!(await requireProgram(t, "cargo", ["--version"]))) return;
  const { base, folder, run, slug } = await aWorkshop(t);
  const files = ["--input", "openapi.json", "--output", "openapi-3.0.json"];
  await run("npx", "--yes", DOWN_CONVERT, ...files);
  await run("cargo", "install", "--quiet", "--debug", "--root", "tools", PROGENITOR);
  const options = ["--output", "client", "--name", "partner", "--version", "1.0.0"];
  const document = ["--input", "openapi-3.0.json"];
  await run("tools/bin/cargo-progenitor", "progenitor", ...document, ...options);

  await copyFile(join(CALLS, "calls-progenitor.rs"), join(folder, "client/src/main.rs"));
  assert.deepEqual(await runRust(run, base), [
    ...madeBy(slug),
    "deleteSubscription",
    "a problem 404 Not Found",
  ]);
});

/** Runs the program in the folder `client`, and returns what it prints. */
async function runRust(run: Workshop["run"], base: string): Promise<string[]> {
  const manifest = ["--manifest-path", "client/Cargo.toml"];
  const features = ["--features", "macros,rt-multi-thread"];
  await run("cargo", "add", "--quiet", ...manifest, "tokio@1", ...features);
  const { lines } = await run("cargo", "run", "--quiet", ...manifest, "--", base);
  return lines;
}

type Workshop = Pick<Awaited<ReturnType<typeof aWorkshop>>, "folder" | "run">;

/** Makes a client by openapi-generator in the folder `client`. */
async function generate(
  { folder, run }: Workshop,
  language: string,
  ...further: [name: string, value: string][]
): Promise<void> {
  const options = [
    ["inputSpec", join(folder, "openapi.json")],
    ["generatorName", language],
    ["output", join(folder, "client")],
    ...further,
  ].map(([name, value]) => `-Dopenapi.generator.maven.plugin.${name}=${value}`);
  await writeFile(join(folder, "pom.xml"), POM);
  await run("mvn", "-q", "-B", `${OPENAPI_GENERATOR}:generate`, ...options);
}

test("a client by oapi-codegen, with its defaults, calls all six operations", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const { base, folder, run, slug } = await aWorkshop(t);
  await writeFile(join(folder, "go.mod"), "module generated\n\ngo 1.24\n");
  await mkdir(join(folder, "partner"));
  const options = ["-generate", "types,client", "-package", "partner"];
  const { output } = await run("go", "run", GO_PARTNERS, ...options, "openapi.json");
  await writeFile(join(folder, "partner/client.go"), output);
  await copyFile(join(CALLS, "calls.go"), join(folder, "calls.go"));
  await run("go", "mod", "tidy");
  await run("go", "vet", "./...");
  const { lines } = await run("go", "run", ".", base);
  assert.deepEqual(lines, [...madeBy(slug), "deleteSubscription 204", "a problem not_found"]);
});

test("a client by ogen calls all six operations, and one for the operators' document compiles", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const { base, folder, run, slug } = await aWorkshop(t);
  const { deps } = await createEngine(db);
  const { body } = await startOperatorApi(t, deps).ask({ url: "openapi.json" });
  await writeFile(join(folder, "operators.json"), JSON.stringify(body));
  await writeFile(join(folder, "go.mod"), "module generated\n\ngo 1.25\n");
  const ogen = (name: string, document: string) =>
    run("go", "run", OGEN, "--target", name, "--package", name, document);
  await ogen("operators", "operators.json");
  await ogen("partner", "openapi.json");
  await copyFile(join(CALLS, "calls-ogen.go.txt"), join(folder, "main.go"));
  await run("go", "mod", "tidy");
  await run("go", "vet", "./...");
  const { lines } = await run("go", "run", ".", base);
  assert.deepEqual(lines, [...madeBy(slug), "deleteSubscription", "a problem not_found"]);
});

test("clients by the generators for TypeScript compile, and call all six operations", async (t) => {
  const { base, folder, run, slug } = await aWorkshop(t);
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const orval = {
    partner: {
      input: "openapi.json",
      output: { target: "orval.ts", client: "fetch", baseUrl: base },
    },
  };
  await writeFile(join(folder, "orval.config.mjs"), `export default ${JSON.stringify(orval)};`);
  await copyFile(join(CALLS, "calls.ts.txt"), join(folder, "calls.ts"));
  await run("npm", "install", "--no-audit", "--no-fund", ...TYPESCRIPT_GENERATORS);
  await run("npx", "openapi-ts", "-i", "openapi.json", "-o", "hey");
  await run("npx", "openapi-typescript", "openapi.json", "-o", "types.d.ts");
  await run("npx", "orval");
  const strict = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom,dom.iterable"];
  const modules = ["--module", "esnext", "--moduleResolution", "bundler", "--types", "node"];
  await run("npx", "tsc", ...strict, ...modules, "calls.ts");
  const options = ["--bundle", "--platform=node", "--format=esm", "--outfile=calls.mjs"];
  await run("npx", "esbuild", "calls.ts", ...options, "--log-level=error");
  const { lines } = await run("node", "calls.mjs", base);
  const one = [
    `getIdentity ${slug}`,
    "createSubscription whsec_",
    "listSubscriptions 1",
    "sendTestEvent true",
    "listFailures 0 null",
    "deleteSubscription 204",
    "a problem not_found",
  ];
  assert.deepEqual(lines, [...one, ...one, ...one]);
});
