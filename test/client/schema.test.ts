import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { openApiDocument } from "../../site/generated/openapi-document.ts";

const root = new URL("../../../", import.meta.url);
const { clientTypes } = (await import(new URL("scripts/client-types.js", root).href)) as {
  clientTypes: (document: object) => Promise<string>;
};

test("the client's types match the OpenAPI document", async () => {
  const kept = await readFile(new URL("src/client/schema.ts", root), "utf8");
  const made = await clientTypes(await openApiDocument());
  assert.equal(kept, made, "to update them: npm run client-types");
});
