import assert from "node:assert/strict";
import { test } from "node:test";
import { type Folder, ValidationThread } from "../../src/event-types/validation-thread.ts";

test("where no thread can begin, each check fails and none waits for ever", async () => {
  const uncloneable = { definitions: [() => undefined], annotations: [] } as unknown as Folder;
  const thread = new ValidationThread(uncloneable);
  const checks = [1, 2].map((id) => thread.faultsOf("a.b", `{"id":${id}}`));
  for (const check of [...checks, thread.faultsOf("a.b", "{}")])
    await assert.rejects(check, { name: "DataCloneError" });
});
