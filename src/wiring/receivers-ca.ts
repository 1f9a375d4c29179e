import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Returns certificates (PEM) of authorities to trust besides the usual ones. Undefined if none are configured. */
export async function readReceiversCa({
  egressCaFile: path,
  nodeCaFile,
}: Pick<Config, "egressCaFile" | "nodeCaFile">): Promise<string | undefined> {
  if (path === null) return undefined;
  const pem = await readFile(path, "utf8").catch((error: unknown) => {
    throw new Error(`EGRESS_CA_FILE cannot be read: ${(error as Error).message}`);
  });
  const certificates = pem.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new Error(`EGRESS_CA_FILE ${path} holds no certificate`);
  // TLS would silently skip a damaged certificate, and then every delivery would fail.
  if (!certificates.every((certificate) => isReadable(certificate))) {
    throw new Error(`EGRESS_CA_FILE ${path} holds a damaged certificate`);
  }
  // Node.js 20 forgets its own file once others are added. It has warned if it cannot read it.
  const own = nodeCaFile === null ? "" : await readFile(nodeCaFile, "utf8").catch(() => "");
  return `${pem}\n${own}`;
}

function isReadable(certificate: string): boolean {
  try {
    new X509Certificate(certificate);
    return true;
  } catch {
    return false;
  }
}
