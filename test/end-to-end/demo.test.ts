import assert from "node:assert/strict";
import { test } from "node:test";
import { demo } from "../../src/demo.ts";

test("each demo has an operator token of its own", async (t) => {
  const tokens = new Set<unknown>();
  t.mock.method(globalThis, "fetch", (_: string, { headers }: RequestInit) => {
    tokens.add((headers as Record<string, string>)["authorization"]);
    return Promise.reject(new Error("seen"));
  });
  const quiet = { write: () => undefined, remark: () => undefined };
  for (let run = 0; run < 2; run++) {
    await assert.rejects(demo(quiet, new AbortController().signal), /seen/);
  }
  assert.equal(tokens.size, 2);
});
