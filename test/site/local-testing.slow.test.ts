// Depends on: src, site, packages, examples

import assert from "node:assert/strict";
import { test } from "node:test";
import { goSettings } from "../support/package-places.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { requireProgram } from "../support/required.ts";
import { aRig } from "../support/rig.ts";
import { aShell } from "../support/shell.ts";

test("listener and service on one machine show an event, and then the partner's own receiver does", async (t) => {
  if (!(await requireProgram(t, "curl", ["--version"]))) return;
  const { DATABASE_URL = "" } = await aRig(t);
  const shell = await aShell(t, { DATABASE_URL, ADMIN_TOKEN });

  const listener = await shell.start("listen.sh", { PARTNER_API_ARGS: "--port 0" });
  const [url] = await listener.heard(/https:\/\/localhost:\d+\S*/);
  const service = await shell.start("serve.sh", { PORT: "0", OPERATOR_PORT: "0" });
  const [, partnerUrl] = await service.heard(/"partners":"([^"]+)".*"ready"/);
  const [, token] = /(vck_\S+\.\S+)/.exec(await shell.run("local-key.sh")) ?? [];
  assert.ok(partnerUrl && token);

  Object.assign(shell.env, { PARTNER_API: partnerUrl, PARTNER_TOKEN: token, RECEIVER_URL: url });
  const { id, secret } = await shell.json("reference/createSubscription.sh");
  Object.assign(shell.env, { SUBSCRIPTION_ID: id, PARTNER_SECRET: secret });
  const first = await shell.json("reference/sendTestEvent.sh");
  await listener.heard(new RegExp(String(first["event_id"])));
  await listener.stop();

  const { port } = new URL(url);
  const verifying = await shell.start("listen-secret.sh", { PARTNER_API_ARGS: `--port ${port}` });
  await verifying.heard(/Verifies +with one secret/);
  await shell.json("reference/sendTestEvent.sh");
  await verifying.heard(/✔ valid/);
  await verifying.stop();

  const hasPython = await requireProgram(t, "python3", ["--version"]);
  const hasGo = await requireProgram(t, "go", ["version"]);
  if (hasGo) Object.assign(shell.env, await goSettings());
  for (const language of ["mjs", ...(hasPython ? ["py"] : []), ...(hasGo ? ["go"] : [])]) {
    await shell.run(`get-receiver-${language}.sh`);
    const receiver = await shell.start(`own-receiver-${language}.sh`, {}, (text) =>
      text.replace("9443", port),
    );
    await receiver.heard(/^receiving on port/);
    const event = await shell.json("reference/sendTestEvent.sh");
    await receiver.heard(new RegExp(`^received vc\\.test\\.ping ${String(event["event_id"])}`));
    await receiver.stop();
  }

  const program = await shell.start("start-receiver-mjs.sh", { PORT: "0" });
  const [, programPort = ""] = await program.heard(/^receiving on port (\d+)$/);
  const here = (text: string) => text.replace("3000", programPort);
  for (const [sample, more] of [
    ["listen-forward.sh", ""],
    ["listen-record.sh", `--forward-to http://localhost:${programPort}/hooks`],
  ] as const) {
    const args = { PARTNER_API_ARGS: `--port ${port} ${more}` };
    const forwarding = await shell.start(sample, args, here);
    await forwarding.heard(/Answers +every attempt: what http:/);
    const { event_id } = await shell.json("reference/sendTestEvent.sh");
    await program.heard(new RegExp(`^received vc\\.test\\.ping ${String(event_id)}`));
    await forwarding.heard(/→ 204 from http:/);
    await forwarding.stop();
  }
  const replaying = await shell.start("listen-replay.sh", {}, here);
  await replaying.heard(/^204 +vc\.test\.ping +evt_/);
});
