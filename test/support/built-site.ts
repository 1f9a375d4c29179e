import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { buildSite } from "../../site/build.ts";
import { aTemporaryFolder } from "./temporary-folder.ts";

/** The documentation of a build, in a folder that is removed when the tests of the file have ended. */
export async function aBuiltSite(): Promise<URL> {
  const folder = await aTemporaryFolder({ after });
  const url = pathToFileURL(`${folder}/`);
  await buildSite(url);
  return url;
}
