import "../bin/node-version.js";
import { makeReady } from "./ready.js";

await makeReady({ dev: true });
await import("../dist/test/containers/main.js");
