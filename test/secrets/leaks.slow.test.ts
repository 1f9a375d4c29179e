// Depends on: src, site, docs
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { homeFolder, removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import { connect, type Database } from "../../src/postgres/database.ts";
import { runScenario, Transcript } from "../../src/start/demo.ts";
import { startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { type Program, runProgram, startProgram } from "../support/program.ts";
import { status } from "../support/receiver-scripts.ts";
import { type Receiver, startLocalReceiver } from "../support/receiver.ts";
import { misuse } from "./misuse.ts";
import { filesBelow, type Place, tablesOf } from "./places.ts";
import { spellingsOf } from "./spellings.ts";

const KEPT_FILES = ["admin-token", "sealing-keys"];

test("after the whole demo each secret is only in the response that issued it", async (t) => {
  const before = new Date();
  const receiver = await startLocalReceiver(t);
  const { program, dataDir, env } = await aService(t, receiver.ca);
  const operatorToken = await kept(dataDir, "admin-token");
  const output = await runDemo(program, receiver, operatorToken);
  const token = issued(output, "key, shown once");
  const signingSecret = issued(output, "secret, shown once");
  const [, sealingKey = ""] = (await kept(dataDir, "sealing-keys")).split(":");

  const secrets: Record<string, (string | Buffer)[]> = {
    "the API key's secret": inBothForms(token.split(".")[1] ?? "", "base64url"),
    "the signing secret": [
      signingSecret,
      Buffer.from(signingSecret.slice("whsec_".length), "base64"),
    ],
    "the operator's token": inBothForms(operatorToken, "base64url"),
    "the sealing key": inBothForms(sealingKey, "base64"),
  };

  const { db, close } = await openBuiltIn(dataDir);
  const places: Place[] = [
    {
      name: "the deliveries",
      content: jsonOf(receiver.requests.map(({ headers, body }) => [headers, body.toString()])),
    },
  ];
  try {
    places.push(...(await everyPage(t, program, { db, token, operatorToken })));
    for (const secret of [token, signingSecret, operatorToken]) {
      places.push(
        { name: "errors", content: jsonOf(await misuse(program.partnerUrl, secret, token)) },
        {
          name: "operators' errors",
          content: jsonOf(await misuse(program.operatorUrl, secret, `Bearer ${operatorToken}`)),
        },
      );
    }
    const commands = [["doctor"], ["key", "list", "--json"], ["subscription", "list", "--json"]];
    for (const command of commands) {
      places.push({ name: command.join(" "), content: jsonOf(await runProgram(command, env)) });
    }
    await db`checkpoint`; // Writes everything from memory to the files.
    places.push(...(await tablesOf(db)));
    places.push(...(await filesBelow(dataDir, KEPT_FILES, before)));
    if (homeFolder(dataDir) !== dataDir) {
      places.push(...(await filesBelow(homeFolder(dataDir), [], before)));
    }
  } finally {
    await close();
  }
  await program.end("SIGTERM");
  places.push({ name: "the log", content: jsonOf(program.log) });

  for (const [what, forms] of Object.entries(secrets)) {
    const spellings = forms.flatMap((form) => spellingsOf(form));
    for (const { name, content } of places) {
      assert.ok(!spellings.some((spelling) => content.includes(spelling)), `${what} is in ${name}`);
    }
  }
  const bytes = places.reduce((sum, { content }) => sum + content.length, 0);
  assert.ok(program.log.length > 100 && places.length > 100);
  t.diagnostic(`${Object.keys(secrets).length} secrets in ${places.length} places, ${bytes} bytes`);
});

/** Starts the program with its own database, generated tokens and keys, and full logging. */
async function aService(t: TestContext, ca: string) {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  const dataDir = join(folder, "data");
  t.after(async () => {
    await removeEmbedded(dataDir);
    await rm(folder, { recursive: true, force: true });
  });
  await writeFile(join(folder, "ca.pem"), ca);
  const env = {
    ADMIN_TOKEN: "",
    DATA_DIR: dataDir,
    EGRESS_ALLOW: "127.0.0.1/32",
    EGRESS_CA_FILE: join(folder, "ca.pem"),
    EVENT_TYPES: fileURLToPath(new URL("../../../examples/event-types/", import.meta.url)),
    RETRY_DELAYS: "100ms,1s,1s",
    LOG_LEVEL: "trace",
  };
  return { program: await startProgram(t, env), dataDir, env };
}

/** Runs the demo on a running program and returns its output. */
async function runDemo(
  { partnerUrl, operatorUrl }: Program,
  receiver: Receiver,
  operatorToken: string,
): Promise<string> {
  let output = "";
  const transcript = new Transcript((text) => (output += text), new AbortController().signal);
  await runScenario(transcript, {
    partnerUrl,
    operatorUrl,
    operatorToken,
    receiverUrl: receiver.url(),
    nextArrival: () => receiver.next(),
    answerWith: (code) => {
      receiver.answer(status(code));
    },
  });
  return output;
}

/** Returns the value of this name in the output, which must contain it once. */
function issued(output: string, name: string): string {
  const value = new RegExp(`${name} +(\\S+)`).exec(output)?.[1] ?? "";
  assert.ok(value.length > 40, name);
  assert.equal(output.split(value).length, 2, name);
  return value;
}

async function kept(dataDir: string, name: string): Promise<string> {
  return (await readFile(join(dataDir, name), "utf8")).trim();
}

/** As text and as decoded bytes. */
function inBothForms(text: string, encoding: "base64" | "base64url"): (string | Buffer)[] {
  return [text, Buffer.from(text, encoding)];
}

async function openBuiltIn(dataDir: string): Promise<{ db: Database; close: () => Promise<void> }> {
  const server = await startEmbedded({ dataDir, log: () => undefined });
  const db = connect(server.url, { max: 2, name: "test" });
  return {
    db,
    close: async () => {
      await db.end({ timeout: 1 });
      await server.stop();
    },
  };
}

/** Fetches every page and GET route of both listeners, with the credentials that each needs. */
async function everyPage(
  t: TestContext,
  { partnerUrl, operatorUrl }: Program,
  { db, token, operatorToken }: { db: Database; token: string; operatorToken: string },
): Promise<Place[]> {
  const partners = startPartnerApi(t, db);
  const operators = startOperatorApi(t, partners.deps);
  await operators.app.ready();
  const [ids] = await db<{ wh: string; dlv: string }[]>`
    select s.id as wh, d.id as dlv from subscriptions s, finished_deliveries d limit 1`;
  assert.ok(ids);

  const places: Place[] = [];
  for (const [base, key, routes] of [
    [partnerUrl, token, await partners.routes()],
    [operatorUrl, operatorToken, operators.app.routeTable],
  ] as const) {
    for (const { url } of routes.filter(({ method }) => String(method).includes("GET"))) {
      const id = url.includes("deliveries") ? `dlv_${ids.dlv}` : `wh_${ids.wh}`;
      const page = await call(base + url.replace(/:\w+/, id), key);
      places.push({ name: `GET ${url}`, content: jsonOf(page) });
    }
  }
  return places;
}

async function call(url: string, token: string) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  assert.ok(response.status < 500, url);
  return { headers: [...response.headers], body: await textOf(response) };
}

/** A stream of events has no end, so only its first event is read. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== "text/event-stream") return response.text();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return first?.value ?? "";
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
