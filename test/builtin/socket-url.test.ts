import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { once } from "node:events";
import { socketUrl } from "../../src/builtin/home.ts";
import { connect } from "../../src/postgres/database.ts";

/** PostgreSQL's message AuthenticationCleartextPassword. */
const PASSWORD_PLEASE = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);

test("a program on the built-in server's socket that asks for a password learns none", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  t.after(() => rm(folder, { recursive: true }));
  const passFile = join(folder, "pgpass");
  await writeFile(passFile, "*:*:*:*:from-the-file\n", { mode: 0o600 });
  const before = { ...process.env };
  t.after(() => (process.env = before));

  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(PASSWORD_PLEASE);
      socket.once("data", (message: Buffer) => {
        heard.push(message.subarray(5, -1).toString());
        socket.destroy();
      });
    });
  });
  server.listen(join(folder, ".s.PGSQL.5432"));
  await once(server, "listening");
  t.after(() => server.close());

  for (const env of [{ PGPASSWORD: "from-the-environment" }, { PGPASSFILE: passFile }]) {
    process.env = { ...before, ...env };
    const db = connect(socketUrl(folder), { max: 1, name: "test" });
    await assert.rejects(async () => db`select 1`);
    await db.end({ timeout: 0 });
  }
  assert.ok(heard.length >= 2);
  assert.deepEqual([...new Set(heard)], ["none"]);
});
