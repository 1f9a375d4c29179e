import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { OWN_EVENT_TYPES } from "../../src/subjects/event-types/rules.ts";
import type { EventData } from "../../src/webhook/verify.ts";

const declarations = fileURLToPath(new URL("../../src/webhook/index.d.ts", import.meta.url));

/** The compiler's errors for a partner without the types of Node.js and the DOM. */
function complaints(program: string): string[] {
  const options = { lib: ["lib.es2020.d.ts"], types: [], strict: true, noEmit: true };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  const path = declarations.replace("index.d.ts", "partner.ts");
  host.getSourceFile = (name, ...rest) =>
    name === path
      ? ts.createSourceFile(name, program, ts.ScriptTarget.ES2020)
      : read(name, ...rest);
  const compiled = ts.createProgram([path], options, host);
  return ts
    .getPreEmitDiagnostics(compiled)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

const RECEIVER = `
  import { createMemoryStore, handleOnce, verify, type Delivery } from "./index.js";
  export async function receive(delivery: Delivery): Promise<string> {
    const { verdict, event } = await verify(delivery);
    if (verdict !== "valid") return verdict;
    await handleOnce({ store: createMemoryStore(), event, handle: ({ id }) => id.length });
    switch (event.event) {
      case "vc.test.ping": return event.data.message;
      default: return "newer than this library";
    }
  }`;

test("a partner's receiver compiles without the types of Node.js and the DOM, with a typed event", () => {
  assert.deepEqual(complaints(RECEIVER), []);
});

test("a receiver that uses the event without checking the verdict does not compile", () => {
  const careless = RECEIVER.replace('if (verdict !== "valid") return verdict;', "");
  assert.match(complaints(careless).join("\n"), /undefined/);
});

test("the library's event types are the service's event types", () => {
  const known: Record<keyof typeof OWN_EVENT_TYPES, object> & EventData = {
    "vc.test.ping": OWN_EVENT_TYPES["vc.test.ping"].example,
  };
  const alike: Record<keyof EventData, object> = OWN_EVENT_TYPES;
  assert.deepEqual(Object.keys(alike), Object.keys(known));
});
