import { generate } from "selfsigned";

/** Certificates for a local HTTPS receiver, in PEM. */
export interface LocalCertificates {
  /** The certificate that senders must trust. */
  ca: string;
  key: string;
  cert: string;
}

/** The common name of the authority. */
export const AUTHORITY = "Partner API local authority";

/** Issues a certificate for this machine from a new authority. Both are valid for a year. */
export async function makeLocalCertificates(now: Date): Promise<LocalCertificates> {
  const lifetime = {
    keyType: "ec",
    algorithm: "sha256",
    notBeforeDate: new Date(now.getTime() - DAY_MS),
    notAfterDate: new Date(now.getTime() + 365 * DAY_MS),
  } as const;
  const authority = await generate([{ name: "commonName", value: AUTHORITY }], {
    ...lifetime,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const receiver = await generate([{ name: "commonName", value: "localhost" }], {
    ...lifetime,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "extKeyUsage", serverAuth: true }, // Without it, Apple's systems refuse the certificate.
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 7, ip: "127.0.0.1" },
          { type: 7, ip: "::1" },
        ],
      },
    ],
  });
  return { ca: authority.cert, key: receiver.private, cert: receiver.cert };
}

const DAY_MS = 86_400_000;
