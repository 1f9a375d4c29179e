import assert from "node:assert/strict";
import { test } from "node:test";
import { isThisMachine } from "../../src/listen/command.ts";

test("only loopback addresses and localhost are this machine", () => {
  for (const [url, isHere] of [
    ["http://localhost:3000/", true],
    ["http://127.0.0.1/", true],
    ["http://127.1/", true],
    ["http://[::1]:3000/", true],
    ["http://localhost.example.com/", false],
    ["http://127.0.0.1.example.com/", false],
    ["http://10.0.0.1/", false],
    ["http://[::2]/", false],
  ] as const) {
    assert.equal(isThisMachine(new URL(url)), isHere, url);
  }
});
