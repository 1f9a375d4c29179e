import { register } from "node:module";

// The service with the module that carries spans replaced by one that does nothing.
const tracing = new URL("../../src/lib/tracing.js", import.meta.url).href;
const nothing = new URL("./no-tracing.js", import.meta.url).href;
const hook = `export const load = (url, context, next) =>
  next(url === ${JSON.stringify(tracing)} ? ${JSON.stringify(nothing)} : url, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

await import("./service.ts");
