import { readFileSync } from "node:fs";
import { join } from "node:path";
import { keepRelease } from "./kept-release.js";
import { makeReady, ROOT } from "./ready.js";

// Keeps what the partner API and our event types are in this version. A test compares later versions with it.
await makeReady({ dev: true });
const { openApiDocument } = await import("../dist/site/generated/openapi-document.js");
const { OWN_EVENT_TYPES } = await import("../dist/src/subjects/event-types/rules.js");

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
await keepRelease(join(ROOT, "test/releases", version), {
  "openapi.json": await openApiDocument(),
  "event-types.json": Object.entries(OWN_EVENT_TYPES).map(([name, type]) => ({ name, ...type })),
});
