import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { buildSite } from "../../site/build.ts";

/** The documentation of a build, in a folder that is removed when the tests of the file have ended. */
export async function aBuiltSite(): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  after(() => rm(folder, { recursive: true, force: true }));
  const url = pathToFileURL(`${folder}/`);
  await buildSite(url);
  return url;
}
