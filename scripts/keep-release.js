import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import prettier from "prettier";
import { makeReady, ROOT } from "./ready.js";

// Keeps what the partner API and our event types are in this version. A test compares later versions with it.
await makeReady({ dev: true });
const { openApiDocument } = await import("../dist/site/generated/openapi-document.js");
const { OWN_EVENT_TYPES } = await import("../dist/src/domain/event-types.js");

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const folder = join(ROOT, "test/releases", version);
mkdirSync(folder, { recursive: true });
const types = Object.entries(OWN_EVENT_TYPES).map(([name, type]) => ({ name, ...type }));
await write("openapi.json", await openApiDocument());
await write("event-types.json", types);

async function write(name, value) {
  const filepath = join(folder, name);
  const config = await prettier.resolveConfig(filepath);
  writeFileSync(filepath, await prettier.format(JSON.stringify(value), { ...config, filepath }));
}
