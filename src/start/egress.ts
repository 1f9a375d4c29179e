import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { Config } from "../config/config.ts";
import { Egress, type EgressOptions, requireKeyExchanges } from "../egress/index.ts";

type Settings = Pick<
  Config,
  "dnsServers" | "attemptTimeoutMs" | "egress" | "egressSource" | "dispatchConcurrency"
>;

/** Opens what posts to receivers and checks their URLs, as the settings say. */
export function openEgress(
  { dnsServers, attemptTimeoutMs, egress, egressSource, dispatchConcurrency }: Settings,
  parts: Pick<EgressOptions, "ca" | "maxConnections"> = {},
): Egress {
  return new Egress({
    ...parts,
    policy: egress,
    nameServers: dnsServers ?? undefined,
    lookUpMs: lookUpLimitMs(attemptTimeoutMs),
    maxLookUps: dispatchConcurrency, // Each attempt makes one look-up.
    source: egressSource,
  });
}

/** The time limit of a look-up: half of its attempt. */
export function lookUpLimitMs(attemptTimeoutMs: number): number {
  return attemptTimeoutMs / 2;
}

/** Throws if this machine does not have the source addresses of the settings. */
export async function requireEgressSource({
  egressSource: { ipv4, ipv6 },
}: Pick<Config, "egressSource">): Promise<void> {
  for (const address of [ipv4, ipv6]) {
    if (address !== null && !(await isOwnAddress(address))) {
      throw new Error(`EGRESS_SOURCE: this machine does not have the address ${address}`);
    }
  }
}

/** Throws if no TLS connection to a receiver is possible: every delivery would wait. */
export function requireTls(): void {
  try {
    requireKeyExchanges();
  } catch (error) {
    const why = `Node.js cannot use TLS with receivers (${(error as Error).message})`;
    throw new Error(`${why}: correct its --tls-cipher-list, or OPENSSL_CONF`, { cause: error });
  }
}

async function isOwnAddress(address: string): Promise<boolean> {
  const probe = createServer();
  try {
    await once(probe.listen({ host: address, port: 0 }), "listening");
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
}

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
