// Depends on: src, docs, site, bin, examples
import assert from "node:assert/strict";
import { test } from "node:test";
import { demo } from "../../src/start/demo.ts";
import { anEnvProxy } from "../support/env-proxy.ts";
import { runProgram } from "../support/program.ts";

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

test("the demo of a checkout shows that others verify its signatures, and uses no proxy", async (t) => {
  const { asked, variables } = await anEnvProxy(t);
  const { status, stdout, stderr } = await runProgram(["demo"], variables);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^ *standardwebhooks +signature valid$/m);
  assert.doesNotMatch(stdout, /NOT valid|not installed/);
  assert.deepEqual(asked, []);
});
