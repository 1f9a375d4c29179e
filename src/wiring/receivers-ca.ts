import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";

/** Certificates (PEM) that receivers' may be signed by besides the usual authorities'; undefined while none are configured. */
export async function readReceiversCa({
  egressCaFile: path,
}: Pick<Config, "egressCaFile">): Promise<string | undefined> {
  if (path === null) return undefined;
  const pem = await readFile(path, "utf8").catch((error: unknown) => {
    throw new Error(`EGRESS_CA_FILE cannot be read: ${(error as Error).message}`);
  });
  if (!pem.includes("BEGIN CERTIFICATE"))
    throw new Error(`EGRESS_CA_FILE ${path} holds no certificate`);
  return pem;
}
