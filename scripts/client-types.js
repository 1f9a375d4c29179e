import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import openapiTypescript, { astToString } from "openapi-typescript";
import prettier from "prettier";
import { makeReady, ROOT } from "./ready.js";

const FILE = join(ROOT, "src/client/schema.ts");

/** Generates the source of src/client/schema.ts: the API's types and the error codes of each operation. */
export async function clientTypes(document) {
  const types = astToString(await openapiTypescript(withoutErrors(document)));
  const text =
    "// Made from the OpenAPI document by `npm run client-types`.\n\n" +
    `${types}\n` +
    "/** The codes of the errors that each operation is known to answer. */\n" +
    `export const codes = ${JSON.stringify(codesOf(document))} as const;\n`;
  return prettier.format(text, { ...(await prettier.resolveConfig(FILE)), filepath: FILE });
}

/** Drops deliveries, and error responses, which all have the same type. */
function withoutErrors(document) {
  const copy = structuredClone(document);
  delete copy.webhooks;
  for (const operation of operationsOf(copy)) {
    const good = Object.entries(operation.responses).filter(([status]) => status < 400);
    operation.responses = Object.fromEntries(good);
  }
  return copy;
}

function codesOf(document) {
  return Object.fromEntries(
    operationsOf(document).map(({ operationId, responses }) => [
      operationId,
      Object.values(responses).flatMap(({ content }) => knownCodes(content)),
    ]),
  );
}

/** Each code has an example of its name. */
function knownCodes(content = {}) {
  return Object.keys(content["application/problem+json"]?.examples ?? {});
}

function operationsOf({ paths }) {
  return Object.values(paths).flatMap((item) => Object.values(item));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await makeReady({ dev: true });
  const { openApiDocument } = await import("../dist/site/generated/openapi-document.js");
  writeFileSync(FILE, await clientTypes(await openApiDocument()));
}
