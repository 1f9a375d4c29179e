import {
  type Certificate,
  issueAuthority,
  issueCertificate,
} from "../../src/listen/self-signed.ts";

export type { Certificate };

export interface CertificateOptions {
  hosts: readonly string[];
  addresses: readonly string[];
  kind: "good" | "expired" | "not-yet-valid" | "self-signed";
}

const DAY_MS = 86_400_000;

let authority: Promise<Certificate> | undefined;
const issued = new Map<string, Promise<Certificate>>();

/** The authority that signs this process's receivers. Making keys takes time, so there is only one. */
export function testAuthority(): Promise<Certificate> {
  const now = Date.now();
  return (authority ??= issueAuthority("Test authority", {
    notBefore: new Date(now - 365 * DAY_MS),
    notAfter: new Date(now + 365 * DAY_MS),
  }));
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
  return issueCertificate(
    "Test receiver",
    { dns: hosts, ip: addresses },
    {
      notBefore: new Date(kind === "not-yet-valid" ? now + DAY_MS : now - 2 * DAY_MS),
      notAfter: new Date(kind === "expired" ? now - DAY_MS : now + 2 * DAY_MS),
      authority: kind === "self-signed" ? null : await testAuthority(),
    },
  );
}
