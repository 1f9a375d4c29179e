import { chmod, lstat, mkdir, realpath } from "node:fs/promises";

/**
 * Makes a folder that root alone can change and everybody may pass through, whatever root's umask is. Somebody else's is
 * refused: root would follow the links that are laid in it.
 */
export async function openRootFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  const folder = await realpath(path);
  const { uid } = await lstat(folder);
  if (uid !== process.geteuid?.()) throw new Error(`${folder} is not root's: give it to root`);
  await chmod(folder, 0o755);
  return folder;
}
