import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { certificate, testAuthority } from "../../test/support/certificates.ts";
import type { Names } from "../processes/names.ts";
import type { Receiver } from "../processes/receiver.ts";
import { Child } from "./child.ts";
import type { Resources } from "./resources.ts";

/** Not 127.0.0.1, so that no other program on this machine answers by mistake. */
const ADDRESS = "127.0.0.2";
const DOMAIN = "receivers.test";
const NAMES = 100;

/** A hundred receivers: names that our name server resolves to one process. */
export interface Receivers {
  process: Child<Receiver>;
  names: Child<Names>;
  /** The settings with which a service finds, reaches and trusts them. */
  environment: Record<string, string>;
  /** The authority, for other senders. */
  address: string;
  ca: string;
  /** Each with the next name and its own path under `folder`. */
  urls: (count: number, folder?: string) => string[];
  /** Each with a name that the name server does not answer. */
  silentUrls: (count: number) => string[];
}

export async function openReceivers(opened: Resources, folder: string): Promise<Receivers> {
  const child = new Child<Receiver>("receiver");
  opened.add(() => child.end());
  const names = new Child<Names>("names");
  opened.add(() => names.end());

  const { cert: ca } = await testAuthority();
  const { key, cert } = await certificate({
    hosts: [`*.${DOMAIN}`],
    addresses: [ADDRESS],
    kind: "good",
  });
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, ca);
  const { server } = await names.ask("start", { address: ADDRESS });
  const port = await child.ask("start", { key, cert, address: ADDRESS });
  const origin = (name: number) => `https://r${name}.${DOMAIN}:${port}`;

  return {
    process: child,
    names,
    environment: {
      EGRESS_ALLOW: `${ADDRESS}/32`,
      EGRESS_CA_FILE: caFile,
      DNS_SERVERS: server,
    },
    address: ADDRESS,
    ca,
    urls: (count, pathFolder = "/hooks") =>
      Array.from({ length: count }, (_, i) => `${origin(i % NAMES)}${pathFolder}/${i}`),
    silentUrls: (count) =>
      Array.from({ length: count }, (_, i) => `https://silent.r${i}.${DOMAIN}:${port}/hooks/${i}`),
  };
}
