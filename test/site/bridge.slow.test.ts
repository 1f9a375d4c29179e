// Depends on: src, site, docs

import assert from "node:assert/strict";
import { test } from "node:test";
import { anOutbox, OUTBOX } from "../support/bridge.ts";
import { createDatabase, environmentOf } from "../support/database.ts";
import { samplesOf } from "../support/page-samples.ts";
import { requireProgram } from "../support/required.ts";
import { aShell } from "../support/shell.ts";

const db = await createDatabase({ max: 1 });
const publishing = await samplesOf("publishing.md");
const { sample } = await samplesOf("bridge.md");

test("the page's steps, word for word, lead from an outbox table to a verified delivery", async (t) => {
  if (!(await requireProgram(t, "curl", ["--version"]))) return;
  assert.equal(sample("sql outbox").trim(), OUTBOX);
  const outbox = await anOutbox(t);
  const shell = await aShell(t, environmentOf(db));
  await shell.runText(publishing.sample("bash declare"));
  const first = shell.startText(publishing.sample("bash listen"), { PARTNER_API_ARGS: "--port 0" });
  const [receiver] = await first.heard(/https:\/\/localhost:\d+\S*/);
  const ports = { PORT: "0", OPERATOR_PORT: "0" };
  const service = shell.startText(publishing.sample("bash serve"), ports);
  const [, partners, operators] = await service.heard(
    /"partners":"([^"]+)","operators":"([^"]+)".*"ready"/,
  );
  const [, token] =
    /(vck_\S+\.\S+)/.exec(await shell.runText(publishing.sample("bash organization"))) ?? [];
  assert.ok(partners && operators && token);
  Object.assign(shell.env, {
    ...{ PARTNER_API: partners, OPERATOR_API: operators, OUTBOX_URL: outbox.url },
    ...{ PARTNER_TOKEN: token, RECEIVER_URL: receiver, BRIDGE_PORT: "0" },
  });
  const { secret } = JSON.parse(await shell.runText(publishing.sample("bash subscribe"))) as {
    secret: string;
  };
  await first.stop();
  const args = { PARTNER_API_ARGS: `--port ${new URL(receiver).port} --secret ${secret}` };
  const listener = shell.startText(publishing.sample("bash listen"), args);
  await listener.heard(/Verifies +with one secret/);

  await outbox.db.unsafe(sample("sql insert"));
  const configure = sample("bash configure");
  const checked = await shell.runText(`${configure}\n${sample("bash check")}`);
  assert.match(checked, /^ok +service: it answers$/m);
  assert.match(checked, /^ok +orders: PostgreSQL .* 1 open rows in public\.outbox$/m);
  assert.doesNotMatch(checked, /create index/);
  assert.match(checked, /the first message becomes {"organization":"acme","type":"order.created"/);
  const bridge = shell.startText(`${configure}\n${sample("bash run")}`);
  await bridge.heard(/"published"/);
  await listener.heard(/ord_1050/);
  await listener.heard(/✔ valid/);
  await bridge.stop();
});
