import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "../lock.ts";
import { listMarks } from "../marks.ts";
import type { RemoveJob } from "../protocol.ts";
import { dataOf, makeFolder } from "./folders.ts";
import { stopServer } from "./server.ts";
import { dropSocketFolder } from "./socket-folder.ts";

/** Removes the content of the home, and ends a server that a killed process left running in it. */
export async function emptyHome({ folder: home, names }: RemoveJob): Promise<void> {
  for (const folder of ["lock", "attached"]) await makeFolder(folder);
  await withLock("lock", async () => {
    if ((await listMarks("attached")).length > 0) throw new Error(`${home} is in use`);
    await stopServer(dataOf(home));
    await dropSocketFolder(home, names);
    for (const name of await readdir(home)) {
      await rm(join(home, name), { recursive: true, force: true });
    }
  });
}
