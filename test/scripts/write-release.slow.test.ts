// Depends on: bin, deploy, docs, examples, ops, packages, scripts, site, src, vectors, package.json, CHANGELOG.md, CONTRIBUTING.md, LICENSE, README.md, SECURITY.md

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const { writeRelease } = (await import(join(ROOT, "scripts/write-release.js"))) as {
  writeRelease: (root: string, folder: string, note: object) => Promise<string[]>;
};
const PYTHON = "/usr/bin/python3";

test("two releases of a commit have every archive with the same bytes, in any time zone", async (t) => {
  if (!(await requireProgram(t, PYTHON, ["-c", "import setuptools, wheel, pip"]))) return;
  const folder = await aTemporaryFolder(t);
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };

  const said = await writeRelease(ROOT, join(folder, "one"), { commit: "of the test" });
  process.env["TZ"] = "Asia/Tokyo";
  assert.deepEqual(
    await writeRelease(ROOT, join(folder, "other"), { commit: "of the test" }),
    said,
  );
  const names = await readdir(join(folder, "one"));
  assert.deepEqual(names.sort(), [
    `partner-api-${version}.cdx.json`,
    `partner-api-${version}.release.json`,
    `partner-api-${version}.tgz`,
    `partner-api-bridge-${version}.tgz`,
    `partner-api-client-${version}.tgz`,
    `partner-api-egress-${version}.tgz`,
    `partner-api-listen-${version}.tgz`,
    `partner-api-webhook-${version}.tgz`,
    `partner-api-webhook-go-v${version}.zip`,
    `partner_api_webhook-${version}-py3-none-any.whl`,
    `partner_api_webhook-${version}.tar.gz`,
  ]);
  for (const name of names) {
    const [one, other] = await Promise.all(
      ["one", "other"].map((run) => readFile(join(folder, run, name))),
    );
    assert.ok(other && one?.equals(other), name);
  }

  // The sdist builds where nothing of the checkout is.
  const options = ["--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", folder];
  const sdist = join(folder, "one", `partner_api_webhook-${version}.tar.gz`);
  await promisify(execFile)(PYTHON, ["-m", "pip", "wheel", ...options, sdist]);
  assert.ok((await readdir(folder)).includes(`partner_api_webhook-${version}-py3-none-any.whl`));
});
