import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import prettier from "prettier";

/** Writes the files of a release, by name. Throws if the folder exists, because partners rely on a release. */
export async function keepRelease(folder, files) {
  if (existsSync(folder)) {
    throw new Error(
      `${folder} exists, and partners rely on a release. Raise the version. If this one is not published yet, delete the folder first`,
    );
  }
  mkdirSync(folder, { recursive: true });
  for (const [name, value] of Object.entries(files)) {
    const filepath = join(folder, name);
    const config = await prettier.resolveConfig(filepath);
    writeFileSync(filepath, await prettier.format(JSON.stringify(value), { ...config, filepath }));
  }
}
