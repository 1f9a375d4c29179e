import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { trustCommand } from "../../src/listen/certificates.ts";
import { startReceiver } from "../../src/listen/receiver.ts";
import { makeLocalCertificates } from "../../src/listen/self-signed.ts";
import { requireProgram } from "../support/required.ts";
import { aShell } from "../support/shell.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

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
  const folder = await aTemporaryFolder(t);
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

/** Does what root would do, in $PLACE instead of in the machine's own folders. */
const SUDO = `#!/usr/bin/env bash
set -eu
case $1 in
  cp) cp "$2" "$PLACE$3" ;;
  update-ca-certificates)
    /usr/sbin/update-ca-certificates --hooksdir "$PLACE" --etccertsdir "$PLACE/etc/ssl/certs" \\
      --localcertsdir "$PLACE/usr/local/share/ca-certificates" ;;
  *) exit 2 ;;
esac
`;

test("after the command that listen prints, curl and browsers of this system accept its certificate", async (t) => {
  if (process.platform !== "linux") {
    t.skip("the command of Debian");
    return;
  }
  if (!(await requireProgram(t, "/usr/sbin/update-ca-certificates", ["--help"]))) return;
  if (!(await requireProgram(t, "which", ["certutil"]))) return;
  const shell = await aShell(t, {});
  const place = join(shell.folder, "root");
  const bundle = join(place, "etc/ssl/certs/ca-certificates.crt");
  for (const folder of ["bin", "etc/ssl/certs", "usr/local/share/ca-certificates"]) {
    await mkdir(join(place, folder), { recursive: true });
  }
  await writeFile(join(place, "bin/sudo"), SUDO);
  await chmod(join(place, "bin/sudo"), 0o755);
  Object.assign(shell.env, { PLACE: place, PATH: `${place}/bin:${shell.env["PATH"] ?? ""}` });

  const listener = await shell.start("listen.sh", { PARTNER_API_ARGS: "--port 0" });
  const [url] = await listener.heard(/https:\/\/localhost:\d+\S*/);
  const [command] = await listener.heard(/sudo cp .*/);
  const curl = `curl -sS -o /dev/null -w '%{http_code}' --cacert ${bundle} -d '{}' ${url}`;
  await shell.runText("sudo update-ca-certificates");
  await assert.rejects(shell.runText(curl), /unable to get local issuer certificate/);
  await shell.runText(command);
  assert.equal(await shell.runText(curl), "204");
  const forBrowsers = await shell.runText("certutil -L -d sql:$HOME/.pki/nssdb");
  assert.match(forBrowsers, /^partner-api-local +C,,/m);
});
