// Depends on: src, site, docs, scripts, bin, test/support, package.json

import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { createDatabase, environmentOf } from "../support/database.ts";
import { type Sample, samplesOf } from "../support/page-samples.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aShell } from "../support/shell.ts";

/** Folders that a copy of the tree does not need. Its packages are a link. */
const APART = new Set([".git", ".data", "node_modules", "runtimes", "spectral"]);
const SERVER = process.env["TEST_DATABASE_URL"] ?? "";
const db = await createDatabase({ max: 1 });

test("the page's steps, word for word, add a resource family that delivers an event", async (t) => {
  if (!(await requireProgram(t, "curl", ["--version"]))) return;
  const { all, sample } = await samplesOf("extending.md");
  const shell = await aShell(t, {
    ...environmentOf(db),
    ADMIN_TOKEN,
    npm_config_update_notifier: "false",
  });
  const tree = shell.folder;
  for (const name of await readdir(ROOT)) {
    if (!APART.has(name)) await cp(join(ROOT, name), join(tree, name), { recursive: true });
  }
  await symlink(join(ROOT, "node_modules"), join(tree, "node_modules"));

  const files = all.filter(({ name }) => name.includes("/"));
  assert.ok(files.length > 10);
  for (const file of files) await write(tree, file);
  await shell.runText(`export DATABASE_URL='${SERVER}'\n${sample("bash test")}`);

  const listener = shell.startText(`${sample("bash listen").trimEnd()} --port 0`);
  const [receiver] = await listener.heard(/https:\/\/localhost:\d+\S*/);
  const service = shell.startText(sample("bash serve"), { PORT: "0", OPERATOR_PORT: "0" });
  const [, partners] = await service.heard(/"partners":"([^"]+)".*"ready"/);
  assert.ok(partners);
  const [, token] = /(vck_\S+\.\S+)/.exec(await shell.runText(sample("bash key"))) ?? [];
  assert.ok(token);
  Object.assign(shell.env, { PARTNER_API: partners, PARTNER_TOKEN: token, RECEIVER_URL: receiver });
  await shell.runText(sample("bash subscribe"));

  const create = sample("bash site/samples/reference/createLead.sh");
  const lead = JSON.parse(await shell.runText(create)) as { id: string };
  await listener.heard(/vc\.lead\.created/);
  await listener.heard(new RegExp(lead.id));
  Object.assign(shell.env, { LEAD_ID: lead.id });
  const shown = await shell.runText(sample("bash site/samples/reference/getLead.sh"));
  assert.deepEqual(JSON.parse(shown), lead);
  for (const name of ["createLead", "getLead"]) {
    assert.match(await shell.runText(`node site/samples/reference/${name}.mjs`), /ada@example/);
  }
});

/** Writes a file with the page's text. The lines of a diff must occur in the file exactly once. */
async function write(tree: string, { language, name, text }: Sample): Promise<void> {
  const path = join(tree, name);
  await mkdir(dirname(path), { recursive: true });
  if (language !== "diff") return writeFile(path, text);

  let content = await readFile(path, "utf8");
  for (const hunk of text.split(/^@@\n/m)) {
    const parts = content.split(linesOf(hunk, "-"));
    assert.equal(parts.length, 2, `${name} has these lines once:\n${hunk}`);
    content = parts.join(linesOf(hunk, "+"));
  }
  return writeFile(path, content);
}

/** The lines of a hunk that are unchanged or begin with this sign. */
function linesOf(hunk: string, sign: "-" | "+"): string {
  const lines = hunk.split("\n").slice(0, -1);
  assert.ok(lines.every((line) => /^[ +-]/.test(line)));
  return lines
    .filter((line) => line.startsWith(" ") || line.startsWith(sign))
    .map((line) => `${line.slice(1)}\n`)
    .join("");
}
