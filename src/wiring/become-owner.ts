import { existsSync } from "node:fs";
import { access } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { accountOf, become, homeFolder } from "../builtin/index.ts";
import { findFolderOwner } from "./folder-owner.ts";

const OURSELVES = fileURLToPath(import.meta.url);

/**
 * If another user can change the folder, root's process becomes that user's for good. So a command of root on a user's DATA_DIR
 * has that user's rights, and cannot be misdirected. Does nothing if only root can change the folder, or if we are not root.
 */
export async function becomeOwner(folder: string, log: (message: string) => void): Promise<void> {
  const found = await findFolderOwner(folder);
  if (found === null) return;
  const { owner, whose } = found;
  if (existsSync(homeFolder(folder))) {
    throw new Error(
      `${whose}, but its database ${homeFolder(folder)} belongs to root: give the folder to root`,
    );
  }
  become(await accountOf(owner));
  await access(OURSELVES).catch(() => {
    throw new Error(`${whose}, and uid ${owner.uid} cannot read this installation`);
  });
  log(`${whose}: continuing as that user`);
}
