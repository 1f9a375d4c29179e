import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Config, parseAdminTokens } from "../config.ts";
import type { OperatorToken } from "../domain/operator-role.ts";
import { keep, readKept } from "./kept-file.ts";

/** Returns the operators' tokens: those of the settings, those in the data folder, or new ones. */
export async function openAdminTokens({
  adminTokens,
  dataDir,
}: Pick<Config, "adminTokens" | "dataDir">): Promise<OperatorToken[]> {
  if (adminTokens) return [...adminTokens];

  const path = adminTokenPath(dataDir);
  const kept = (await readKept(path)) ?? (await keep(path, randomBytes(32).toString("base64url")));
  const tokens = parseAdminTokens(kept);
  if (!tokens) throw new Error(`${path} is damaged: it must hold a token of 32 to 512 characters`);
  return tokens;
}

export function adminTokenPath(dataDir: string): string {
  return join(dataDir, "admin-token");
}
