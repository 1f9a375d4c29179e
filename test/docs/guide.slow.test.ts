// Depends on: src, docs, site

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { aPartner, aRig } from "../support/rig.ts";
import { guideCommand, guideCommands } from "../support/guide.ts";
import { ADMIN_TOKEN, startProgram } from "../support/program.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { ROOT } from "../support/root.ts";
import { aShell } from "../support/shell.ts";

const HERE = "test/docs/guide.slow.test.ts";

/** The test that runs a command of the guide. */
const RUN: [RegExp, string][] = [
  [/^partner-api (delivery|event|org|subscription) /, HERE],
  [/^partner-api (migrate|doctor)$/, "test/backup/drill.long.ts"],
  [/^pg_dump .*MIGRATION/, "test/backup/drill.long.ts"],
  [/^pg_restore /, "test/backup/drill.long.ts"],
  [/^deploy\/restore-drill\.sh$/, "test/backup/drill.long.ts"],
  [/^pgbackrest .*incr$/, "test/backup/drill.long.ts"],
  [/^pgbackrest .*stanza-create$/, "test/backup/service.ts"],
  [/^pgbackrest /, "test/backup/restore.slow.test.ts"],
  [/^promtool /, "test/ops/alerts.test.ts"],
  [/^haproxy /, "test/deploy/set-up.test.ts"],
  [/^docker compose .*cells/, "test/containers/cells.ts"],
  [/^docker compose /, "test/containers/compose.ts"],
];

/** The reason why no test runs a command. */
const NOT_RUN: [RegExp, string][] = [
  [
    /^(useradd|install|cp|systemctl) /,
    "they change the machine; systemd is not the first process of a test",
  ],
  [
    /^(cd deploy|\.\/new-secrets\.sh > )/,
    "the trials of the containers do so in a copy of the project",
  ],
  [/^(kubectl|helm) /, "there is no cluster"],
  [/^patronictl /, "the failover test asks the same of Patroni over HTTP"],
  [/^pg_dump .*…/, "the built-in server's version of pg_dump is not packaged everywhere"],
];

test("each command of the operations guide is run by a test, or has a reason why not", async () => {
  const commands = await guideCommands();
  assert.ok(commands.length > 20);
  for (const command of commands) {
    const run = RUN.find(([pattern]) => pattern.test(command));
    assert.ok(run ?? NOT_RUN.find(([pattern]) => pattern.test(command)), command);
    if (run) assert.match(await readFile(join(ROOT, run[1]), "utf8"), /guideCommand/);
  }
  for (const [pattern] of [...RUN, ...NOT_RUN]) {
    assert.ok(
      commands.some((one) => pattern.test(one)),
      String(pattern),
    );
  }
});

test("the guide's commands find and redeliver a delivery, set a ceiling, and work over HTTP", async (t) => {
  const rig = await aRig(t, { RETRY_DELAYS: "10ms" });
  const program = await startProgram(t, rig);
  const receiver = await startLocalReceiver(t);
  receiver.answer(status(500), status(500), status(204));
  const partner = await aPartner(program, "acme");
  const first = await partner.subscribe(receiver.url("/first"));
  const other = await partner.subscribe(receiver.url("/other"));
  const { body } = await partner.ping(first);
  const event = String(body["event_id"]);
  await receiver.next();
  await receiver.next();

  const shell = await aShell(t, rig);
  const run = (command: string, id: string, second = "") =>
    shell.runText(command.replace(/(evt|dlv|wh)_…/, id).replace(/wh_…/, second));
  const dead = await guideCommand(/^partner-api delivery list --state dead_lettered$/);
  let listed = "";
  while (!listed.includes("dlv_")) listed = await shell.runText(dead);
  const delivery = /dlv_[0-9a-f-]+/.exec(listed)?.[0] ?? "";
  assert.ok((await run(await guideCommand(/event show/), event)).includes(delivery));
  assert.match(await run(await guideCommand(/delivery show/), delivery), /500/);
  await run(await guideCommand(/redeliver dlv_…$/), delivery);
  await run(await guideCommand(/redeliver dlv_… --to/), delivery, other.id);
  const paths = [(await receiver.next()).path, (await receiver.next()).path];
  assert.deepEqual(paths.sort(), ["/first", "/other"]);
  const many = (end: string) => guideCommand(new RegExp(`redeliver --subscription .*${end}$`));
  assert.match(
    await run(await many("--dry-run"), first.id, other.id),
    /^Deliveries that match: 1\./,
  );
  assert.match(await run(await many("--rate 100"), first.id, other.id), /^Redelivery rdl_/);
  assert.match(await run(await guideCommand(/set-ceiling wh_… 20$/), other.id), /20/);
  await run(await guideCommand(/set-ceiling wh_… none$/), other.id);

  const away = await aShell(t, {
    PARTNER_API_URL: program.operatorUrl,
    PARTNER_API_TOKEN: ADMIN_TOKEN,
  });
  assert.match(await away.runText(await guideCommand(/^partner-api org list$/)), /acme/);
  assert.equal(await program.end("SIGTERM"), 0);
});

test("the README and the guide lead to the operator API's document", async () => {
  for (const file of ["README.md", "docs/operations.md"]) {
    const text = await readFile(join(ROOT, file), "utf8");
    assert.match(text, /<http:\/\/127\.0\.0\.1:8081\/api\/v1\/admin\/openapi\.json>/, file);
  }
});
