import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Lexer, type Token, type Tokens } from "marked";
import { downloads } from "../../site/downloads.ts";
import { infoOf } from "../../site/info.ts";
import { signatureHeaders } from "../../src/webhook/sign.ts";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const db = await createDatabase();
const PAGES = join(ROOT, "site/pages");
const SAMPLES = join(ROOT, "site/samples");
const read = (name: string) => readFile(join(SAMPLES, name), "utf8");

/** A folder with a sample and the library as partners download it. */
async function aFolderWithLibrary(t: TestContext, sample: string): Promise<string> {
  const folder = await aTemporaryFolder(t);
  await copyFile(join(SAMPLES, sample), join(folder, sample));
  const library = downloads().find(({ name }) => name === "webhook.mjs");
  await writeFile(join(folder, "webhook.mjs"), library?.content ?? "");
  return folder;
}

/** Every code block of the pages. */
async function codeBlocks() {
  const names = await readdir(PAGES);
  const texts = await Promise.all(names.map((name) => readFile(join(PAGES, name), "utf8")));
  return texts.flatMap((text, i) => {
    const plain = text.replace(/^:::.*$/gm, "");
    const tokens: Token[] = new Lexer().lex(plain);
    return tokens.flatMap((token) =>
      token.type === "code" ? [{ page: names[i] ?? "", ...infoOf(token as Tokens.Code) }] : [],
    );
  });
}

test("every runnable sample is a file, and every file is shown", async () => {
  const blocks = await codeBlocks();
  for (const { page, language, file } of blocks) {
    assert.ok(file !== undefined || language === "text", `${page} has ${language} without a file`);
  }
  const shown = new Set(blocks.map(({ file }) => file));
  const files = await readdir(SAMPLES, { recursive: true });
  const own = files.filter((name) => /^[^/]+\.\w+$/.test(name));
  for (const name of own) assert.ok(shown.has(`site/samples/${name}`), name);
  // The event types of a platform are in a separate folder.
  const examples = (await readdir(join(ROOT, "examples"))).filter((name) =>
    /\.(?!http$)\w+$/.test(name),
  );
  for (const name of examples) assert.ok(shown.has(`examples/${name}`), name);
});

test("the samples use only the variables of the quickstart", async () => {
  const settings = (
    await Promise.all(
      ["settings", "settings-receiver", "settings-subscription"].map((name) => read(`${name}.sh`)),
    )
  ).join("");
  const made = [...settings.matchAll(/^export ([A-Z_]+)=/gm)].map(([, name]) => name);
  const files = (await readdir(SAMPLES, { recursive: true })).filter((name) =>
    name.endsWith(".sh"),
  );
  for (const name of files) {
    const used = [...(await read(name)).matchAll(/\$([A-Z_]+)/g)].map(([, variable]) => variable);
    assert.deepEqual(
      used.filter((variable) => !made.includes(variable)),
      [],
      name,
    );
  }
});

test("the snippet for Standard Webhooks tells a genuine delivery from a forged one", async () => {
  const secret = `whsec_${"A".repeat(44)}`;
  process.env["PARTNER_SECRET"] = secret;
  const [, envelope = ""] = (await read("delivery.http")).split("\n\n");
  const body = Buffer.from(envelope.trim());
  const headers = signatureHeaders({
    signingSecret: secret,
    eventId: "evt_1",
    timestampMs: Date.now(),
    body,
  });
  const standard = (await import(pathToFileURL(join(SAMPLES, "standard-webhooks.mjs")).href)) as {
    check: (headers: object, body: Buffer) => { event: string };
  };
  assert.equal(standard.check(headers, body).event, "vc.test.ping");
  assert.throws(() => standard.check(headers, Buffer.from("{}")));
});

test("the snippet for duplicates handles an event once, and again only after a failure", async (t) => {
  const folder = await aFolderWithLibrary(t, "handle-once.mjs");
  const { statusFor } = (await import(pathToFileURL(join(folder, "handle-once.mjs")).href)) as {
    statusFor: (event: { id: string }, handle: () => unknown) => Promise<number>;
  };
  let times = 0;
  const handle = () => Promise.resolve(times++);
  const failing = () => Promise.reject(new Error("no stock"));

  await assert.rejects(statusFor({ id: "evt_1" }, failing), /no stock/);
  const both = await Promise.all([
    statusFor({ id: "evt_1" }, handle),
    statusFor({ id: "evt_1" }, handle),
  ]);
  assert.deepEqual(both, [204, 503]);
  assert.equal(await statusFor({ id: "evt_1" }, handle), 204);
  assert.equal(times, 1);
});

test("the snippet for duplicates in Python handles an event once, and again only after a failure", async (t) => {
  if (!(await requireProgram(t, "python3", ["--version"]))) return;
  const folder = await aFolderWithLibrary(t, "handle_once.py");
  const program = `
from handle_once import handle_once
def work(event, db): print(event["id"])
def fail(event, db): raise RuntimeError("no stock")
try: handle_once({"id": "evt_1"}, fail)
except RuntimeError as error: print(error)
print(handle_once({"id": "evt_1"}, work), handle_once({"id": "evt_1"}, work))
`;
  const { stdout } = await promisify(execFile)("python3", ["-c", program], { cwd: folder });
  assert.equal(stdout, "no stock\nevt_1\nTrue False\n");
});

test("an error looks as in the documentation", async (t) => {
  const api = startPartnerApi(t, db);
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const shown = JSON.parse(await read("error.json")) as { request_id: string };
  const answer = await api.inject({
    method: "POST",
    url: "/api/v1/partner/webhooks",
    headers: { authorization, "x-request-id": shown.request_id },
    payload: { url: "http://hooks.example.com/", events: ["vc.test.ping"] },
  });
  assert.deepEqual(answer.json(), shown);
});

test("the rate limit headers look as in the documentation", async (t) => {
  const api = startPartnerApi(t, db);
  const { authorization } = await api.aKeyWith();
  const { headers } = await api.inject({ url: "/api/v1/partner/me", headers: { authorization } });
  const [policy, left = ""] = (await read("rate-limit.http")).trimEnd().split("\n");
  assert.equal(`RateLimit-Policy: ${String(headers["ratelimit-policy"])}`, policy);
  const form = new RegExp(`^${left.replace(/\d+/g, "\\d+")}$`);
  assert.match(`RateLimit: ${String(headers["ratelimit"])}`, form);
});
