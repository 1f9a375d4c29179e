// Depends on: bin, deploy, docs, examples, ops, packages, scripts, site, src, vectors, package.json, CHANGELOG.md, CONTRIBUTING.md, README.md, SECURITY.md

import assert from "node:assert/strict";
import type { ExecFileException } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { installPackage } from "../support/installed-package.ts";

const installed = await installPackage();
const ROOT = new URL("../../../", import.meta.url);
const README = new URL("../../../README.md", import.meta.url);
const INSTALL = new URL("../../../site/samples/install.sh", import.meta.url);

test("the package contains the program and the partners' libraries, and nothing for development", () => {
  const places = new Set(installed.files.map((path) => path.split("/").slice(0, 2).join("/")));
  for (const path of [...places])
    if (/^(examples|vectors|bin|docs|deploy|ops)\//.test(path)) places.delete(path);
  assert.deepEqual([...places].sort(), [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "dist/docs",
    "dist/src",
    "package.json",
    "src/event-types",
    "src/postgres",
  ]);
  for (const path of ["bin/partner-api.js", "src/postgres/migrations/0001_service.sql"]) {
    assert.ok(installed.files.includes(path), path);
  }
  assert.deepEqual(
    installed.files.filter((path) => /\.(test\.js|map|tsbuildinfo)$/.test(path)),
    [],
  );
});

test("files that the package's documents link to are in the package", async () => {
  const documents = installed.files.filter((path) => /^[^/]+\.md$|^docs\/.*\.md$/.test(path));
  assert.ok(documents.includes("docs/operations.md"));
  for (const document of documents) {
    const text = await readFile(new URL(document, ROOT), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      const path = new URL(target, new URL(document, "file:///")).pathname.slice(1);
      assert.ok(installed.files.includes(path), `${document} leads to ${path}`);
    }
  }
});

test("package overrides do not affect those who install the package", async () => {
  const manifest = await readFile(new URL("../../../package.json", import.meta.url), "utf8");
  assert.ok(!("overrides" in (JSON.parse(manifest) as object)));
});

test("npx runs the program from any folder of its installation", async () => {
  assert.match(await installed.npx("partner-api", "--help"), /^Usage: partner-api/);
});

test("the documented installation ends with a program that runs by its name", async () => {
  const sample = await readFile(INSTALL, "utf8");
  assert.match(await installed.bash(`${sample}partner-api --help`), /^Usage: partner-api/m);
});

test("in any other folder that name runs nothing and queries no registry", async () => {
  const sample = await readFile(INSTALL, "utf8");
  const elsewhere = `${sample}cd /\npartner-api --help`;
  await assert.rejects(installed.bash(elsewhere), ({ code, stderr }: ExecFileException) => {
    assert.equal(code, 127, stderr);
    assert.doesNotMatch(stderr ?? "", /npm/);
    return true;
  });
});

test("the package exports only the webhook library and the client", async () => {
  const program = `
    import { verify } from "partner-api/webhook";
    import { createPartnerClient } from "partner-api/client";
    const { verdict } = await verify({ secret: "whsec_x", headers: {}, body: "{}" });
    const client = createPartnerClient({ baseUrl: "https://partners.example.com", token: "vck_x.y" });
    const inside = await import("partner-api/dist/src/start/main.js").catch(({ code }) => code);
    console.log(verdict, typeof client.failures, inside);`;
  const said = await installed.node("--input-type=module", "--eval", program);
  assert.equal(said, "malformed function ERR_PACKAGE_PATH_NOT_EXPORTED\n");
});

test("the README's samples compile against the published types in the strictest project", async () => {
  const blocks = (await readFile(README, "utf8")).match(/(?:^ {6}.*\n)+/gm) ?? [];
  const samples = blocks.filter((block) => block.includes("partner-api/"));
  assert.equal(samples.length, 2);
  const given = [
    "declare const secret: string, token: string, url: string;",
    "declare const request: { headers: Record<string, string | string[] | undefined> };",
    "declare const rawBytes: Uint8Array;",
  ];
  const scope = join(installed.folder, "node_modules/@partner-api");
  await symlink(fileURLToPath(new URL("packages", ROOT)), scope);
  const file = join(installed.folder, "sample.ts");
  await writeFile(file, [...given, ...samples].join("\n"));
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    types: [],
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipDefaultLibCheck: true,
  });
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ messageText, file }) =>
        `${file?.fileName ?? ""} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  assert.deepEqual(faults, []);
});
