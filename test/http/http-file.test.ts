import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { openApiDocument } from "../../site/generated/openapi-document.ts";
import { createDatabase } from "../support/database.ts";
import { parseHttpFile } from "../support/http-file.ts";
import { startPartnerApi } from "../support/partner-api.ts";

const db = await createDatabase();
const text = await readFile(new URL("../../../examples/partner-api.http", import.meta.url), "utf8");

test("the .http file has every operation of the document, and names it so", async () => {
  const { paths } = await openApiDocument();
  const documented = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, summary }]) => ({
      name: operationId,
      title: summary,
      call: `${method.toUpperCase()} ${path}`,
    })),
  );
  const requests = parseHttpFile(text, { baseUrl: "", subscriptionId: "{id}" });
  const written = requests.map(({ name, title, method, url }) => ({
    name,
    title,
    call: `${method} ${url.replace(/\?.*/, "")}`,
  }));
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  assert.deepEqual(written.sort(byName), documented.sort(byName));
});

test("every request of the .http file succeeds, from the first to the last", async (t) => {
  const api = startPartnerApi(t, db);
  const { token } = await api.aKeyWith("webhooks:manage");
  const values: Record<string, string> = {
    baseUrl: await api.listen(),
    token,
    receiverUrl: "https://hooks.example.com/",
  };

  const statuses: [string, number][] = [];
  for (const { name } of parseHttpFile(text, values)) {
    const request = parseHttpFile(text, values).find((one) => one.name === name);
    assert.ok(request);
    const { url, method, headers, body = null } = request;
    const response = await fetch(url, { method, headers, body });
    statuses.push([name, response.status]);
    if (name !== "createSubscription") continue;
    const { id, secret } = (await response.json()) as { id: string; secret: string };
    Object.assign(values, { subscriptionId: id, secret });
  }
  assert.deepEqual(statuses, [
    ["getIdentity", 200],
    ["createSubscription", 201],
    ["listSubscriptions", 200],
    ["sendTestEvent", 200],
    ["listFailures", 200],
    ["deleteSubscription", 204],
  ]);
});
