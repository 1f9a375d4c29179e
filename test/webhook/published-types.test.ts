import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import ts from "typescript";

test("the published declarations need neither Node's types nor the DOM's", () => {
  const declarations = fileURLToPath(new URL("../../src/webhook/verify.d.ts", import.meta.url));
  const program = ts.createProgram([declarations], {
    lib: ["lib.es2020.d.ts"],
    types: [],
    strict: true,
    noEmit: true,
  });
  const messages = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  assert.ok(program.getSourceFile(declarations));
  assert.deepEqual(messages, []);
});
