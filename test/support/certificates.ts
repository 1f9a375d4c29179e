import { generate } from "selfsigned";

/** The certificate and key of a receiver, PEM. */
export interface Certificate {
  key: string;
  cert: string;
}

export interface CertificateOptions {
  hosts: readonly string[];
  addresses: readonly string[];
  kind: "good" | "expired" | "not-yet-valid" | "self-signed";
}

const DAY_MS = 86_400_000;
const EC = { keyType: "ec", algorithm: "sha256" } as const;

let authority: Promise<Certificate> | undefined;
const issued = new Map<string, Promise<Certificate>>();

/** The authority that signs this process's receivers. Making keys takes time, so there is only one. */
export async function testAuthority(): Promise<Certificate> {
  authority ??= generate([{ name: "commonName", value: "Test authority" }], {
    ...EC,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  }).then(({ private: key, cert }) => ({ key, cert }));
  return authority;
}

/** A certificate for these names and addresses. Repeated calls return the same one. */
export async function certificate(options: CertificateOptions): Promise<Certificate> {
  const name = JSON.stringify(options);
  const made = issued.get(name) ?? issue(options);
  issued.set(name, made);
  return made;
}

async function issue({ hosts, addresses, kind }: CertificateOptions): Promise<Certificate> {
  const now = Date.now();
  const { private: key, cert } = await generate([{ name: "commonName", value: "Test receiver" }], {
    ...EC,
    notBeforeDate: new Date(kind === "not-yet-valid" ? now + DAY_MS : now - 2 * DAY_MS),
    notAfterDate: new Date(kind === "expired" ? now - DAY_MS : now + 2 * DAY_MS),
    extensions: [
      { name: "basicConstraints", cA: false },
      {
        name: "subjectAltName",
        altNames: [
          ...hosts.map((value) => ({ type: 2 as const, value })),
          ...addresses.map((ip) => ({ type: 7 as const, ip })),
        ],
      },
    ],
    ...(kind !== "self-signed" && { ca: await testAuthority() }),
  });
  return { key, cert };
}
