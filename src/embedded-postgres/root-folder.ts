import { chmod, lstat, mkdir, realpath } from "node:fs/promises";

/**
 * Creates a folder that only root can change and everybody may pass through, independent of the umask. Refuses a folder of another
 * owner, because root would follow links in it.
 */
export async function openRootFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  const folder = await realpath(path);
  const { uid } = await lstat(folder);
  if (uid !== process.geteuid?.())
    throw new Error(`${folder} does not belong to root: make root its owner`);
  await chmod(folder, 0o755);
  return folder;
}
