import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import { createLogger, warnOfExceptions } from "../../src/observe/log.ts";
import { createDatabase } from "../support/database.ts";

const db = await createDatabase();

test("the log of a refused row has the error without the row's values", async () => {
  const lines: string[] = [];
  const log = createLogger("trace", { write: (line) => lines.push(line) });
  const data = `{"private":"${randomUUID()}"}`;
  const refused = await db`
    insert into events (id, organization_number, type, occurred_at, data)
    values (${randomUUID()}, 1, ${"x".repeat(101)}, now(), ${data})`.catch(
    (error: unknown) => error,
  );
  assert.ok(String((refused as { detail?: unknown }).detail).includes("private"));

  log.error({ err: refused }, "request failed");
  assert.match(lines.join(""), /events.*_type_check/);
  assert.doesNotMatch(lines.join(""), /private/);
});

test("members with names of secrets are redacted at every depth that we use", () => {
  const secret = "whsec_not-for-the-log";
  const NAMES = ["authorization", "token", "secret", "signingSecret", "sealed_secret", "body"];
  for (const name of NAMES) {
    for (const line of [
      { [name]: secret },
      { request: { [name]: secret } },
      { request: { headers: { [name]: secret } } },
      { err: { row: { [name]: secret } } },
    ]) {
      let written = "";
      createLogger("trace", { write: (text) => (written += text) }).info(line, "seen");
      assert.ok(!written.includes(secret), written);
      assert.match(written, /"\[redacted\]"/);
    }
  }
});

test("the start logs its warnings", () => {
  const lines: string[] = [];
  const log = createLogger("warn", { write: (line) => lines.push(line) });
  warnOfExceptions(loadConfig({ OPERATOR_HOST: "0.0.0.0" }), log);
  const { msg, operatorHost } = JSON.parse(lines.join()) as Record<string, string>;
  assert.match(String(msg), /^other machines can reach/);
  assert.equal(operatorHost, "0.0.0.0");
});
