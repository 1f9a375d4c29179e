// Depends on: src, site, docs
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import ts from "typescript";
import type { EventView } from "../../src/subjects/events/work.ts";
import { createDatabase, environmentOf, ownerOf } from "../support/database.ts";
import { samplesOf } from "../support/page-samples.ts";
import { requireProgram } from "../support/required.ts";
import { aShell } from "../support/shell.ts";

const dropRole: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const drop of dropRole) await drop();
});
const db = await createDatabase({ max: 1 });

const { sample } = await samplesOf("publishing.md");

test("the page's steps, word for word in each language, lead from a type to verified deliveries", async (t) => {
  if (!(await requireProgram(t, "curl", ["--version"]))) return;
  const owner = ownerOf(db);
  const shell = await aShell(t, environmentOf(db));
  await shell.runText(sample("bash declare"));

  const first = shell.startText(sample("bash listen"), { PARTNER_API_ARGS: "--port 0" });
  const [receiver] = await first.heard(/https:\/\/localhost:\d+\S*/);
  const ports = { PORT: "0", OPERATOR_PORT: "0" };
  const service = shell.startText(sample("bash serve"), ports);
  const [, partners, operators] = await service.heard(
    /"partners":"([^"]+)","operators":"([^"]+)".*"ready"/,
  );
  assert.ok(partners && operators);
  const [, token] = /(vck_\S+\.\S+)/.exec(await shell.runText(sample("bash organization"))) ?? [];
  assert.ok(token);
  Object.assign(shell.env, {
    ...{ PARTNER_API: partners, OPERATOR_API: operators },
    ...{ PARTNER_TOKEN: token, RECEIVER_URL: receiver },
  });
  const { secret } = JSON.parse(await shell.runText(sample("bash subscribe"))) as {
    secret: string;
  };
  await first.stop();
  const args = { PARTNER_API_ARGS: `--port ${new URL(receiver).port} --secret ${secret}` };
  const listener = shell.startText(sample("bash listen"), args);
  await listener.heard(/Verifies +with one secret/);

  const published = [
    await shell.runText(sample("bash publish")),
    await runFile("node", "publish.mjs", sample("js publish")),
    await shell.runText(sample("bash command")),
  ];
  if (await requireProgram(t, "python3", ["--version"])) {
    published.push(await runFile("python3", "publish.py", sample("python publish")));
  }
  if (await requireProgram(t, "go", ["version"])) {
    // The user's own cache, so that the standard library is compiled once.
    const cache = (await promisify(execFile)("go", ["env", "GOCACHE"])).stdout.trim();
    Object.assign(shell.env, { GOCACHE: cache, GOTOOLCHAIN: "local", GOPROXY: "off" });
    published.push(await runFile("go run", "publish.go", sample("go publish")));
  }
  await shell.runText(sample("bash library"));
  if (await requireProgram(t, "python3", ["-c", "from typing import NotRequired"])) {
    const id = await runFile("python3", "use.py", sample("python use"));
    published.push(JSON.stringify({ event_id: id.trim() }));
  }
  published.push(JSON.stringify({ event_id: (await useTypeScript()).trim() }));
  const library = await readFile(join(shell.folder, "events.go"), "utf8");
  assert.match(library, /type OrderCreated struct/);
  const ids = published.map((text) => (JSON.parse(text) as { event_id: string }).event_id);
  ids.push(`evt_${await publishFromSql()}`);
  for (const id of ids) {
    await listener.heard(new RegExp(id));
    const shown = await shell.runText(`partner-api event show ${id} --json`);
    assert.equal((JSON.parse(shown) as EventView).organization, "acme");
  }
  assert.equal(new Set(ids).size, ids.length);
  await listener.heard(/✔ valid/);
  assert.ok(!listener.lines.all.some((line) => line.includes("forged")));

  async function useTypeScript(): Promise<string> {
    const publisher = await readFile(join(shell.folder, "publisher.ts"), "utf8");
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    const compile = (text: string) => ts.transpileModule(text, { compilerOptions }).outputText;
    await writeFile(join(shell.folder, "package.json"), '{ "type": "module" }');
    await writeFile(join(shell.folder, "publisher.js"), compile(publisher));
    return runFile("node", "use.js", compile(sample("ts use")));
  }

  async function runFile(program: string, name: string, text: string): Promise<string> {
    await writeFile(join(shell.folder, name), text);
    return shell.runText(`${program} ${name}`);
  }

  /** Publishes like another service on the same database, with its own role. */
  async function publishFromSql(): Promise<string> {
    const role = `orders_service_${process.pid}`;
    dropRole.push(() => owner.unsafe(`drop owned by ${role}; drop role ${role}`).execute());
    await owner.unsafe(sample("sql grant").replaceAll("orders_service", role));
    const statements = sample("sql publish")
      .replace(/begin;|commit;/g, "")
      .split(";\n");
    return owner.begin(async (tx) => {
      await tx.unsafe(`set local role ${role}`);
      let id = "";
      for (const statement of statements.filter((text) => text.trim() !== "")) {
        const [row] = await tx.unsafe(statement);
        id = String(row?.["partner_api_publish"] ?? id);
      }
      return id;
    });
  }
});
