// Depends on: examples, runtimes, src/webhook, test/webhook, vectors

import assert from "node:assert/strict";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ROOT } from "../support/root.ts";
import { aDelivery, SECRET } from "./delivery.ts";
import { checkReceiver } from "./check-receiver.ts";
import { startReceiving } from "./start-receiving.ts";
import { readVectors } from "./vectors/read.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const installed = join(ROOT, "runtimes/node_modules");

const runtimes = [
  {
    name: "workerd",
    platforms: "@cloudflare",
    program: "bin/workerd",
    args: ["serve", "--control-fd=1", "workerd.capnp"],
    pattern: /"event":"listen".*"port":(\d+)/,
  },
  {
    name: "Deno",
    platforms: "@deno",
    program: "deno",
    args: ["run", "--no-remote", "--no-npm", "--import-map=imports.json"].concat(
      ["--allow-net=127.0.0.1", "--allow-env"],
      ["deno.mjs"],
    ),
  },
  { name: "Bun", platforms: "@oven", program: "bin/bun", args: ["bun.mjs"] },
];

for (const { name, platforms, program, ...options } of runtimes) {
  test(`${name} runs the receiver library: all vectors and a receiver`, async (t) => {
    if (!existsSync(installed)) {
      t.skip(`npm install --prefix runtimes --no-save installs ${name}`);
      return;
    }
    const cwd = await aFolder(t);
    const [platform = ""] = await readdir(join(installed, platforms));
    const path = join(installed, platforms, platform, program);
    const env = { PARTNER_SECRET: SECRET, DENO_DIR: join(cwd, "cache"), DENO_NO_UPDATE_CHECK: "1" };
    const { port, output } = await startReceiving(t, path, { ...options, cwd, env });

    const vectors = await readFile(join(ROOT, "vectors/signature.json"), "utf8");
    const url = `http://127.0.0.1:${port}/vectors`;
    const verdicts = await (await fetch(url, { method: "POST", body: vectors })).json();
    assert.deepEqual(
      verdicts,
      readVectors().map(({ verdict }) => verdict),
    );
    await checkReceiver(port, output);

    const { headers, body } = aDelivery();
    const mistakes = `http://127.0.0.1:${port}/mistakes`;
    const answer = await fetch(mistakes, { method: "POST", headers, body });
    const said = (await answer.json()) as Record<string, string>;
    assert.equal(said["right"], "valid");
    for (const [what, sentence] of Object.entries(EXPLAINED))
      assert.match(said[what] ?? "", sentence, what);
  });
}

const EXPLAINED = {
  request: /got the whole request/,
  promise: /got a promise: await it/,
  pairs: /got an array.*Object\.fromEntries/,
  stream: /the body was not read/,
  parsed: /already parsed/,
  blob: /the body was not read/,
  secret: /as issued/,
};

/** A folder with only the example and the library, so that nothing from Node.js can be imported. */
async function aFolder(t: TestContext): Promise<string> {
  const folder = await aTemporaryFolder(t);
  const library = fileURLToPath(new URL("../../src/webhook", import.meta.url));
  await cp(join(ROOT, "test/webhook/runtimes"), folder, { recursive: true });
  await cp(join(ROOT, "examples/fetch.mjs"), join(folder, "fetch.mjs"));
  await cp(library, join(folder, "library"), { recursive: true });

  const imports = { "@partner-api/webhook": "./library/index.js" };
  await writeFile(join(folder, "imports.json"), JSON.stringify({ imports }));
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { paths: paths(imports) } }),
  );
  return folder;
}

/** Import paths in the form that Bun reads. */
function paths(imports: Record<string, string>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(imports).map(([name, path]) => [name, [path]]));
}
