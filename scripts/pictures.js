import "../bin/node-version.js";
import { makeReady } from "./ready.js";

// Renews the pictures of the console and the desk in docs/images. It needs Chromium, and the fonts of the machine are in the pictures.
await makeReady({ dev: true });
const { runOnDatabase } = await import("./on-database.js");
process.exitCode = await runOnDatabase(["dist/test/browser/pictures.js"]);
