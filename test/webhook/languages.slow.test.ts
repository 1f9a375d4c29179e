// Depends on: examples, packages, test/webhook, vectors

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { readVectors } from "./vectors/read.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const runners = join(ROOT, "test/webhook/languages");

const languages = [
  { name: "Python", program: "python3", version: "--version", ending: "py", start: script },
  { name: "Ruby", program: "ruby", version: "--version", ending: "rb", start: script },
  { name: "PHP", program: "php", version: "--version", ending: "php", start: script },
  { name: "Go", program: "go", version: "version", ending: "go", start: goProgram },
];

for (const { name, program, version, ending, start } of languages) {
  test(`the ${name} verifier returns the right verdict for every vector`, async (t) => {
    if (!(await requireProgram(t, program, [version]))) return;
    const said = await start(t, program, `run.${ending}`, []);
    const vectors = readVectors();
    assert.deepEqual(
      said.map((verdict, at) => [vectors[at]?.name, verdict]),
      vectors.map(({ name, verdict }) => [name, verdict]),
    );
    t.diagnostic(`${said.length} of ${vectors.length} vectors`);
  });

  test(`the ${name} verifier throws for an empty or unset secret`, async (t) => {
    if (!(await requireProgram(t, program, [version]))) return;
    const [timestamp, body] = ["1767225600000", "{}"];
    const mac = createHmac("sha256", "").update(`${timestamp}.${body}`).digest("hex");
    const delivery = [`sha256=${mac}`, timestamp, body];
    const said = await start(t, program, `mistakes.${ending}`, delivery);
    assert.ok(said.length >= 4);
    for (const answer of said) assert.match(answer, /^throws: .*secret/);
  });

  test(`the ${name} verifier has at most 25 lines`, async () => {
    const text = await readFile(join(ROOT, `examples/verify.${ending}`), "utf8");
    assert.ok(text.trimEnd().split("\n").length <= 25);
  });
}

async function script(_: TestContext, program: string, runner: string, args: string[]) {
  return lines(await run(program, [join(runners, runner), ROOT, ...args]));
}

/** Go requires one folder for each package. */
async function goProgram(t: TestContext, program: string, runner: string, args: string[]) {
  const folder = await aTemporaryFolder(t);
  await mkdir(join(folder, "webhook"));
  await copyFile(join(ROOT, "examples/verify.go"), join(folder, "webhook/verify.go"));
  await copyFile(join(runners, runner), join(folder, "main.go"));
  await writeFile(join(folder, "go.mod"), "module vectors\n\ngo 1.19\n");
  const env = { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "" };
  return lines(await run(program, ["run", ".", ROOT, ...args], { cwd: folder, env }));
}

function lines({ stdout }: { stdout: string }): string[] {
  return stdout.trimEnd().split("\n");
}
