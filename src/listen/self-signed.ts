import { createPrivateKey, KeyObject, webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonGeneralNames,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

/** A certificate and its private key, in PEM. */
export interface Certificate {
  key: string;
  cert: string;
}

/** Certificates for a local HTTPS receiver, in PEM. */
export interface LocalCertificates extends Certificate {
  /** The certificate that senders must trust. */
  ca: string;
}

/** The common name of the authority. */
export const AUTHORITY = "Partner API local authority";

/** Issues a certificate for this machine from a new authority. Both are valid for a year. */
export async function makeLocalCertificates(now: Date): Promise<LocalCertificates> {
  const notBefore = new Date(now.getTime() - A_DAY_MS);
  const notAfter = new Date(now.getTime() + 365 * A_DAY_MS);
  const authority = await issueAuthority(AUTHORITY, { notBefore, notAfter });
  const names = { dns: ["localhost"], ip: ["127.0.0.1", "::1"] };
  const receiver = await issueCertificate("localhost", names, { notBefore, notAfter, authority });
  return { ca: authority.cert, ...receiver };
}

const A_DAY_MS = 86_400_000;
const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

interface Validity {
  notBefore: Date;
  notAfter: Date;
}

/** Creates an authority that signs itself. */
export function issueAuthority(name: string, validity: Validity): Promise<Certificate> {
  return issue(name, { ...validity, authority: null }, [
    new BasicConstraintsExtension(true, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
  ]);
}

/** Creates a key and its certificate for a server with these names. It signs itself if `authority` is null. */
export function issueCertificate(
  name: string,
  { dns, ip }: { dns: readonly string[]; ip: readonly string[] },
  options: Validity & { authority: Certificate | null },
): Promise<Certificate> {
  const names: JsonGeneralNames = [
    ...dns.map((value) => ({ type: "dns" as const, value })),
    ...ip.map((value) => ({ type: "ip" as const, value })),
  ];
  return issue(name, options, [
    new BasicConstraintsExtension(false),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]), // Without it, Apple's systems refuse the certificate.
    new SubjectAlternativeNameExtension(names),
  ]);
}

async function issue(
  name: string,
  { notBefore, notAfter, authority }: Validity & { authority: Certificate | null },
  extensions: Extension[],
): Promise<Certificate> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const issuer = authority && new X509Certificate(authority.cert);
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: issuer?.subject ?? `CN=${name}`,
    notBefore,
    notAfter,
    publicKey: keys.publicKey,
    signingKey: authority ? await signingKeyOf(authority) : keys.privateKey,
    signingAlgorithm: EC,
    extensions: [
      ...extensions,
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer?.publicKey ?? keys.publicKey),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" });
  return { key: key.toString(), cert: certificate.toString("pem") };
}

function signingKeyOf({ key }: Certificate): Promise<webcrypto.CryptoKey> {
  const bytes = createPrivateKey(key).export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", bytes, EC, false, ["sign"]);
}
