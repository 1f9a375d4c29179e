// Depends on: test/webhook

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Webhook } from "standardwebhooks";
import { ROOT } from "../support/root.ts";
import { startReceiver } from "../support/receiver.ts";
import { aPost, startSender } from "../support/sender.ts";
import { mintSigningSecret } from "../../src/webhook/sign.ts";
import { aDelivery, SECRET } from "./delivery.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const runners = join(ROOT, "test/webhook/languages");
const GO_LIBRARY = "github.com/standard-webhooks/standard-webhooks/libraries";
const EXPECTED = ["valid", "valid", "refused", "refused"];

interface Sent {
  secret: string;
  headers: Record<string, string>;
  body: Buffer;
}

test("the service's deliveries verify with the Standard Webhooks library for JavaScript", async (t) => {
  const said = (await deliveries(t)).map(({ secret, headers, body }) => {
    try {
      new Webhook(secret).verify(body, headers);
      return "valid";
    } catch {
      return "refused";
    }
  });
  assert.deepEqual(said, EXPECTED);
});

test("the service's deliveries verify with the Standard Webhooks library for Python", async (t) => {
  if (spawnSync("python3", ["-c", "import standardwebhooks"]).status !== 0) {
    t.skip("to run this test: pip install standardwebhooks");
    return;
  }
  assert.deepEqual(await hear(t, "python3", [join(runners, "standard.py")]), EXPECTED);
});

test("the service's deliveries verify with the Standard Webhooks library for Go", async (t) => {
  const cwd = await aTemporaryFolder(t);
  await copyFile(join(runners, "standard.go"), join(cwd, "main.go"));
  await writeFile(join(cwd, "go.mod"), `module m\n\ngo 1.21\n\nrequire ${GO_LIBRARY} v0.0.1\n`);
  // Tests download nothing.
  const env = { ...process.env, GOPROXY: "off", GOTOOLCHAIN: "local", GONOSUMDB: "*" };
  const options = { cwd, env: { ...env, GOFLAGS: "-mod=mod" } };
  if (spawnSync("go", ["mod", "download"], options).status !== 0) {
    t.skip(`go mod download ${GO_LIBRARY}@v0.0.1 makes this run`);
    return;
  }
  assert.deepEqual(await hear(t, "go", ["run", "."], options), EXPECTED);
});

async function hear(
  t: TestContext,
  program: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string[]> {
  const sent = (await deliveries(t)).map((one) => ({ ...one, body: one.body.toString("base64") }));
  const { stdout, stderr } = spawnSync(program, args, {
    ...options,
    input: JSON.stringify(sent),
    encoding: "utf8",
  });
  assert.equal(stderr, "");
  return stdout.trimEnd().split("\n");
}

/** Two deliveries that arrived over HTTPS: one with a changed body, and one for another secret. */
async function deliveries(t: TestContext): Promise<Sent[]> {
  const sender = await startSender(t);
  const receiver = await startReceiver(t);
  const send = async (data?: string): Promise<Sent> => {
    const { eventId, body } = aDelivery(data === undefined ? {} : { data });
    await sender.send(
      aPost(receiver.url(), { eventId, signingSecret: SECRET, body: Buffer.from(body) }),
    );
    const received = await receiver.next();
    const headers = Object.entries(received.headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as const] : [],
    );
    return { secret: SECRET, headers: Object.fromEntries(headers), body: received.body };
  };

  const plain = await send();
  const changed = Buffer.concat([plain.body, Buffer.from(" ")]);
  return [
    plain,
    await send('{"message":"Zürich \\u00e9","n":1.0}'),
    { ...plain, body: changed },
    { ...plain, secret: mintSigningSecret() },
  ];
}
