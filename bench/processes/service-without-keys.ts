import { register } from "node:module";

// The service whose two routes do not look for an Idempotency-Key.
register("./without-keys.js", import.meta.url);

await import("./service.ts");
