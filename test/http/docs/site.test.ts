import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Site } from "../../../src/http/docs/site.ts";
import { isUnavailable } from "../../../src/postgres/database.ts";
import { aTemporaryFolder } from "../../support/temporary-folder.ts";

test("a file that could not be read is no outage of the database, and is read again for the next request", async (t) => {
  const folder = await aTemporaryFolder(t);
  const site = new Site(pathToFileURL(`${folder}/`));
  const read = async () => (await site.at("/docs"))?.body.toString();

  const fails = (name: string) =>
    assert.rejects(read(), (error: Error) => {
      assert.equal(error.message, `${name} cannot be read`);
      assert.equal(isUnavailable(error), false);
      return true;
    });
  await fails("site.json");
  const manifest = { "/docs": { file: "start.html", type: "text/html" } };
  await writeFile(join(folder, "site.json"), JSON.stringify(manifest));
  await fails("start.html");
  await writeFile(join(folder, "start.html"), "a page");
  assert.equal(await read(), "a page");
});

test("simultaneous requests for a file share one read", async (t) => {
  const folder = await aTemporaryFolder(t);
  const manifest = { "/docs": { file: "start.html", type: "text/html" } };
  await writeFile(join(folder, "site.json"), JSON.stringify(manifest));
  await writeFile(join(folder, "start.html"), "a page");

  const site = new Site(pathToFileURL(`${folder}/`));
  const [one, other] = await Promise.all([site.at("/docs"), site.at("/docs")]);
  assert.ok(one);
  assert.equal(one, other);
});
