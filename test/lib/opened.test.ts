import assert from "node:assert/strict";
import { test } from "node:test";
import { Opened } from "../../src/lib/parts.ts";

test("resources are closed once, in reverse order, one after the other", async () => {
  const opened = new Opened();
  const told: string[] = [];
  for (const name of ["database", "listener"]) {
    opened.add(async () => {
      told.push(`${name} closes`);
      await Promise.resolve();
      told.push(`${name} is closed`);
    });
  }
  await opened.close();
  await opened.close();
  assert.deepEqual(told, [
    "listener closes",
    "listener is closed",
    "database closes",
    "database is closed",
  ]);
});

test("resources that fail to close do not keep others open, and all are reported", async () => {
  const opened = new Opened();
  const told: string[] = [];
  opened.add(() => told.push("database"));
  opened.add(() => Promise.reject(new Error("the sender")));
  opened.add(() => {
    throw new Error("the listener");
  });
  await assert.rejects(opened.close(), /the listener.*the sender/);
  assert.deepEqual(told, ["database"]);
});
