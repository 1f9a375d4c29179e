import { access, constants, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** Returns the file that is run for this name, as `execvp` finds it. Null if there is none. */
export async function findProgram(name: string, path = ""): Promise<string | null> {
  const places = name.includes("/") ? [name] : path.split(delimiter).map((one) => join(one, name));
  for (const place of places) if (await isProgram(place)) return place;
  return null;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
