import { randomUUID, X509Certificate } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { after } from "../lib/clock.ts";
import { keep, readKept } from "../lib/kept.ts";
import { AUTHORITY, type LocalCertificates, makeLocalCertificates } from "./self-signed.ts";

const PEM = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;
const DAY_MS = 86_400_000;

interface KeptCertificates extends LocalCertificates {
  /** The file for EGRESS_CA_FILE of a service on this machine. */
  caFile: string;
}

/**
 * Returns the certificates in the folder. Issues new ones if there are none or if they expire soon.
 * The authority's private key is never stored, so that nobody can sign with it again.
 */
export async function openCertificates(folder: string, now: Date): Promise<KeptCertificates> {
  const file = join(folder, "receiver.pem");
  const caFile = resolve(folder, "ca.pem");
  for (const path of [file, caFile]) await requireOurs(path);
  const certificates = (await findGood(file, now)) ?? (await make(file, now));

  const draft = `${caFile}.${randomUUID()}`;
  await writeFile(draft, `${certificates.ca}\n`, { flag: "wx" });
  await rename(draft, caFile); // Writing to the file itself could follow a link of another user.
  return { ...certificates, caFile };
}

/** Never replaces a certificate of another authority. */
async function requireOurs(path: string): Promise<void> {
  const issuer = issuerOf((await readKept(path)) ?? "");
  if (issuer !== null && issuer !== `CN=${AUTHORITY}`) {
    throw new Error(`${path} holds a certificate of another authority: choose another folder`);
  }
}

function issuerOf(pem: string): string | null {
  try {
    return new X509Certificate(pem).issuer;
  } catch {
    return null;
  }
}

/** Returns null if there are none. Deletes unusable ones. */
async function findGood(file: string, now: Date): Promise<LocalCertificates | null> {
  const text = await readKept(file);
  if (text === null) return null;
  const kept = parse(text);
  if (kept && isGood(kept, now)) return kept;
  await rm(file, { force: true });
  return null;
}

async function make(file: string, now: Date): Promise<LocalCertificates> {
  const { key, cert, ca } = await makeLocalCertificates(now);
  const kept = parse(await keep(file, [key, cert, ca].map((pem) => pem.trim()).join("\n")));
  if (kept === null) throw new Error(`${file} holds no certificates`);
  return kept;
}

function parse(text: string): LocalCertificates | null {
  const [key, cert, ca] = text.match(PEM) ?? [];
  return key && cert && ca ? { key, cert, ca } : null;
}

function isGood({ cert, ca }: LocalCertificates, now: Date): boolean {
  try {
    const [ours, authority] = [new X509Certificate(cert), new X509Certificate(ca)];
    const expires = new Date(Math.min(...[ours, authority].map((c) => Date.parse(c.validTo))));
    return ours.verify(authority.publicKey) && expires > after(now, DAY_MS);
  } catch {
    return false;
  }
}

/** Returns the command that makes browsers and curl on this system trust the authority in the file. */
export function trustCommand(platform: string, caFile: string): string {
  const file = quoted(caFile);
  switch (platform) {
    case "darwin":
      return `security add-trusted-cert -r trustRoot -p ssl -k ~/Library/Keychains/login.keychain-db ${file}`;
    case "win32":
      return `certutil -user -addstore Root "${caFile}"`;
    default:
      // curl reads the system's authorities. Browsers read the user's database, which certutil of libnss3-tools writes.
      return (
        `sudo cp ${file} /usr/local/share/ca-certificates/partner-api-local.crt && sudo update-ca-certificates; ` +
        `mkdir -p ~/.pki/nssdb && certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n partner-api-local -i ${file}`
      );
  }
}

/** A path as a word of a shell. */
export function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
