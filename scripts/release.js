import "../bin/node-version.js";
import { join } from "node:path";
import { makeReady, ROOT } from "./ready.js";
import { releaseNote } from "./release-note.js";
import { writeRelease } from "./write-release.js";

const note = await releaseNote(ROOT);
await makeReady({ dev: true });
if (!process.env.GO_MODULE)
  console.error(`GO_MODULE is not set: nobody can publish ${note.go_module}`);
for (const line of await writeRelease(ROOT, join(ROOT, "release"), note)) console.log(line);
