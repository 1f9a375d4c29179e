import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { runProgram } from "../support/program.ts";
import { aRig } from "../support/rig.ts";
import { openPort } from "../support/free-port.ts";

/** The message with which PostgreSQL refuses a connection. */
function refusal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C28000\0M${message}\0\0`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from("E"), length, fields]);
}

test("messages of a database cannot control the terminal or fill it", async (t) => {
  const server = createServer((socket) => {
    socket.once("data", () =>
      socket.end(refusal("no\u001b]0;owned\u0007\u202e entry".padEnd(1_000_000, "!"))),
    );
    socket.on("error", () => undefined);
  });
  const url = `postgres://127.0.0.1:${await openPort(t, server)}/x`;
  const env = { ...(await aRig(t)), DATABASE_URL: url, MIGRATION_DATABASE_URL: url };
  for (const command of [["org", "list"], ["org", "list", "--json"], ["doctor"]]) {
    const { status, stdout, stderr } = await runProgram(command, env);
    assert.equal(status, 1);
    assert.match(stdout + stderr, /no\ufffd\]0;owned\ufffd\ufffd entry/);
    assert.doesNotMatch(stdout + stderr, /[^\P{Cc}\n]|\p{Cf}/u);
    assert.ok((stdout + stderr).length < 10_000, "the message is cut");
  }
});
