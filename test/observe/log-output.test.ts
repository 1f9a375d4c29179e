import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createLogger, linesForPeople } from "../../src/observe/log.ts";

const PROGRAM = fileURLToPath(new URL("../support/log-lines.js", import.meta.url));
const MEGABYTE = 1024 * 1024;

/** The output of a process that logs this number of lines before anything reads it. */
async function readLate(lines: number, said = ""): Promise<string> {
  const child = fork(PROGRAM, [String(lines), said], { silent: true });
  assert.ok(child.stdout);
  await once(child, "message");
  return text(child.stdout);
}

test("a process that exits at once has written every line", async () => {
  const written = await readLate(50);
  const lines = written.trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { line: number }).line),
    Array.from({ length: 50 }, (_, index) => index + 1),
  );
});

test("on a terminal a line is readable, and cannot control the terminal", async () => {
  const terminal = new PassThrough({ encoding: "utf8" });
  const log = createLogger("info", await linesForPeople(terminal));
  log.info({ partners: "http://127.0.0.1:8080", said: "\u001b[2J\u202e" }, "ready\u009b");
  const [written] = (await once(terminal, "data")) as [string];
  assert.match(written, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: ready\ufffd \{"partners":"http:.*\}\n$/);
  assert.doesNotMatch(written.trimEnd(), /[\p{Cc}\p{Cf}]/u);
});

test("a logged line of JSON cannot control a terminal, and has the same values", async () => {
  const said = "\u009b2J\u202e\u{e0001}";
  const written = await readLate(1, said);
  assert.doesNotMatch(written.trimEnd(), /[\p{Cc}\p{Cf}]/u);
  assert.equal((JSON.parse(written) as { said: string }).said, said);
});

test("of an unread log four megabytes are kept in whole lines, and nothing waits", async () => {
  const written = await readLate(20_000);
  assert.ok(written.length > 3 * MEGABYTE && written.length < 5 * MEGABYTE, `${written.length}`);
  for (const line of written.trimEnd().split("\n")) JSON.parse(line);
});
