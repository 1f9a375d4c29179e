import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { KeyObject, webcrypto } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import tls from "node:tls";
import { promisify } from "node:util";
import { X509CertificateGenerator } from "@peculiar/x509";
import { trustedRoots } from "../../src/egress/tls.ts";
import { issueAuthority } from "../../src/listen/self-signed.ts";
import { openPort } from "../support/free-port.ts";
import { startReceiver } from "../support/receiver.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

test("a receiver cannot choose the group of a finite-field key exchange", async (t) => {
  const { key, cert } = await anRsaCertificate();
  const speaks = async (ciphers: string) => {
    const options = { key, cert, ciphers, dhparam: "auto", maxVersion: "TLSv1.2" } as const;
    const socket = tls.connect({
      port: await openPort(t, tls.createServer(options)),
      host: "127.0.0.1",
      secureContext: trustedRoots(undefined),
      rejectUnauthorized: false, // Only the key exchange matters here.
    });
    t.after(() => socket.destroy());
    await once(socket, "secureConnect");
  };

  await speaks("ECDHE-RSA-AES128-GCM-SHA256");
  await assert.rejects(speaks("DHE-RSA-AES128-GCM-SHA256"), /handshake failure/);
});

async function anRsaCertificate() {
  const algorithm = {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
  };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const options = { name: "CN=receiver", keys, signingAlgorithm: algorithm };
  const certificate = await X509CertificateGenerator.createSelfSigned(options);
  const key = KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" });
  return { key, cert: certificate.toString("pem") };
}

/** Prints the version of TLS that the sender and a receiver agree on, or the reason of the failure. */
const SHAKE_HANDS = `
  import { connect } from "node:net";
  const [place, port, ca] = process.argv.slice(1);
  const { handshake, trustedRoots } = await import(place + "tls.js");
  const { Deadline } = await import(place + "post.js");
  const destination = { host: "127.0.0.2", address: "127.0.0.2" };
  const shaken = handshake(connect(port, "127.0.0.2"), destination, trustedRoots(ca), new Deadline(30_000));
  console.log(await shaken.then((secured) => secured.getProtocol(), ({ outcome }) => outcome.reason));
  process.exit();`;

for (const { version, says } of [
  { version: "TLSv1.1", says: "tls_error" },
  { version: "TLSv1.2", says: "TLSv1.2" },
] as const) {
  test(`a receiver with only ${version}, while Node.js permits old versions: ${says}`, async (t) => {
    const { port, ca } = await startReceiver(t, { tlsVersion: version });
    const permitting = { minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const other = tls.connect({ host: "127.0.0.2", port, ca, ...permitting });
    t.after(() => other.destroy());
    await once(other, "secureConnect");
    assert.equal(other.getProtocol(), version);

    const place = new URL("../../src/egress/", import.meta.url).href;
    const options = ["--tls-min-v1.0", "--tls-cipher-list=DEFAULT@SECLEVEL=0"];
    const program = ["--input-type=module", "--eval", SHAKE_HANDS, place, String(port), ca];
    const { stdout } = await promisify(execFile)(process.execPath, [...options, ...program]);
    assert.equal(stdout.trim(), says);
  });
}

/** As the start does it: the third argument is the EGRESS_CA_FILE. */
const SHAKE_HANDS_BY_FILE = SHAKE_HANDS.replace(
  "const [place, port, ca] = process.argv.slice(1);",
  `const [place, port, file = null] = process.argv.slice(1);
  const { readReceiversCa } = await import(place + "../start/egress.js");
  const ca = await readReceiversCa({
    egressCaFile: file,
    nodeCaFile: process.env.NODE_EXTRA_CA_CERTS ?? null,
  });`,
);

/** Where an operator of a fleet puts the authority of its receivers. Node.js 20 has no `--use-system-ca`. */
const AUTHORITIES = [
  ["NODE_EXTRA_CA_CERTS", [], "NODE_EXTRA_CA_CERTS"],
  ["--use-openssl-ca", ["--use-openssl-ca"], "SSL_CERT_FILE"],
  ["--use-system-ca", ["--use-system-ca"], "SSL_CERT_FILE"],
] as const;

for (const [name, options, variable] of AUTHORITIES) {
  const skip = options.length > 0 && !process.allowedNodeEnvironmentFlags.has(name);
  test(
    `the authorities of ${name} are trusted beside those of EGRESS_CA_FILE`,
    { skip },
    async (t) => {
      const { port, ca } = await startReceiver(t, {});
      const folder = await aTemporaryFolder(t);
      const fleet = join(folder, "fleet.pem");
      await writeFile(fleet, ca);
      const dates = { notBefore: new Date(0), notAfter: new Date(2 ** 41) };
      const another = join(folder, "another.pem");
      await writeFile(another, (await issueAuthority("Another authority", dates)).cert);
      const both = join(folder, "both.pem");
      await writeFile(both, `${await readFile(another, "utf8")}\n${ca}`);

      const place = new URL("../../src/egress/", import.meta.url).href;
      const shake = async (env: NodeJS.ProcessEnv, ...trusted: string[]) => {
        const program = ["--input-type=module", "--eval", SHAKE_HANDS_BY_FILE, place, String(port)];
        const { stdout } = await promisify(execFile)(
          process.execPath,
          [...options, ...program, ...trusted],
          { env: { ...process.env, ...env } },
        );
        return stdout.trim();
      };
      assert.equal(await shake({}, another), "tls_error");
      assert.equal(await shake({ [variable]: fleet }), "TLSv1.3");
      assert.equal(await shake({ [variable]: fleet }, another), "TLSv1.3");
      assert.equal(await shake({}, both), "TLSv1.3");
    },
  );
}
