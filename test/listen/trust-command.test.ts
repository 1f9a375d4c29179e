import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { trustCommand } from "../../src/listen/trust-command.ts";
import { makeLocalCertificates } from "../../src/receiver/certificates.ts";
import { startReceiver } from "../../src/receiver/receiver.ts";
import { requireProgram } from "../support/required.ts";

test("each system has one command, which names the file", () => {
  assert.match(trustCommand("darwin", "/d/ca.pem"), /^security add-trusted-cert .* \/d\/ca\.pem$/);
  assert.equal(
    trustCommand("win32", "C:\\d\\ca.pem"),
    'certutil -user -addstore Root "C:\\d\\ca.pem"',
  );
  const linux = trustCommand("linux", "/it's/ca.pem");
  assert.match(linux, /^sudo cp '\/it'\\''s\/ca\.pem' .*update-ca-certificates/);
  assert.doesNotMatch(linux, /\n/);
});

test("curl and OpenSSL accept the server's certificate when the authority is trusted", async (t) => {
  if (!(await requireProgram(t, "curl", ["--version"]))) return;
  if (!(await requireProgram(t, "openssl", ["version"]))) return;
  const folder = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  t.after(() => rm(folder, { recursive: true }));
  const certificates = await makeLocalCertificates(new Date());
  const [ca, cert] = [join(folder, "ca.pem"), join(folder, "cert.pem")];
  await writeFile(ca, certificates.ca);
  await writeFile(cert, certificates.cert);
  const receiver = await startReceiver(certificates, () => ({ status: 204, delayMs: 0 }));
  t.after(() => receiver.close());

  const execute = promisify(execFile);
  const { port } = new URL(receiver.url);
  for (const host of ["localhost", "127.0.0.1"]) {
    const url = `https://${host}:${port}/hooks`;
    const args = ["--silent", "--cacert", ca, "--write-out", "%{http_code}", "--data", "{}", url];
    assert.equal((await execute("curl", args)).stdout, "204");
  }
  const forServer = ["verify", "-purpose", "sslserver", "-CAfile", ca, cert];
  assert.match((await execute("openssl", forServer)).stdout, /: OK/);
  // Apple's systems refuse a certificate without a purpose.
  const { stdout } = await execute("openssl", ["x509", "-noout", "-text", "-in", cert]);
  assert.match(stdout, /Extended Key Usage:\s+TLS Web Server Authentication/);
});
