import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createPrivateKey, KeyObject, webcrypto } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import tls from "node:tls";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { DETAILS } from "../../src/egress/index.ts";
import { outcomeOfError } from "../../src/egress/outcome.ts";
import {
  type Certificate,
  issueAuthority,
  issueCertificate,
} from "../../src/listen/self-signed.ts";
import { testAuthority } from "../support/certificates.ts";
import { type Failure, type Records, startDnsServer } from "../support/dns-server.ts";
import { freePort } from "../support/free-port.ts";
import { onConnect } from "../support/network.ts";
import * as scripts from "../support/receiver-scripts.ts";
import type { ReceiverOptions, Script } from "../support/receiver.ts";
import { aPost, names, RECEIVERS, startPair, startSender, unreachable } from "../support/sender.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const HOST = "hooks.partner.test";
const HERE = names({ [HOST]: [["127.0.0.2"]] });
const VALIDITY = { notBefore: new Date(0), notAfter: new Date(2 ** 41) };
const NAMES = { dns: [HOST], ip: [] };
const NO_BODY = "content-length: 0\r\n\r\n";

type Reason = keyof typeof DETAILS;

const shown = new Set<string>();
/** A test in which a post fails for this reason, with this detail. */
function fails(
  reason: Reason,
  detail: string,
  who: string,
  post: (t: TestContext) => Promise<unknown>,
  skip: string | false = false,
) {
  shown.add(detail);
  test(`${who} is ${reason}, ${detail}`, { skip }, async (t) => {
    assert.deepEqual(await post(t), unreachable(reason, detail));
  });
}

function failsAt(reason: Reason, detail: string, who: string, options: ReceiverOptions) {
  fails(reason, detail, who, async (t) => (await startPair(t, options)).send());
}

function failsAfter(reason: Reason, detail: string, who: string, script: Script) {
  fails(reason, detail, who, async (t) => {
    const { receiver, send } = await startPair(t);
    receiver.answer(script);
    return send();
  });
}

// TLS

// TLS

failsAt("tls_error", "certificate_expired", "a certificate that has expired", {
  certificate: "expired",
});
failsAt("tls_error", "certificate_not_yet_valid", "a certificate of tomorrow", {
  certificate: "not-yet-valid",
});
failsAt("tls_error", "name_mismatch", "a certificate for another name", {
  certifiedHosts: ["other.test"],
});
failsAt("tls_error", "self_signed", "a certificate that signs itself", {
  certificate: "self-signed",
});
failsAt("tls_error", "protocol_version", "a receiver that speaks TLS 1.1 alone", {
  tlsVersion: "TLSv1.1",
});
failsAt("tls_error", "no_shared_parameters", "a receiver with a rare curve alone", {
  ecdhCurve: "brainpoolP256r1",
});

/** Posts to a TLS server with this chain, the receiver's own certificate first. */
async function postTo(t: TestContext, [own, ...others]: [Certificate, ...Certificate[]]) {
  const cert = [own, ...others].map((one) => one.cert).join("\n");
  const server = tls.createServer({ key: own.key, cert }).on("tlsClientError", () => undefined);
  return postToServer(t, server);
}

async function postToServer(
  t: TestContext,
  server: Server,
  { timeoutMs = 30_000, ...changes }: { timeoutMs?: number; body?: Buffer } = {},
) {
  const sender = await startSender(t, { lookup: HERE, timeoutMs });
  const open = new Set<Socket>();
  server.on("connection", (socket) => open.add(socket));
  server.listen(0, "127.0.0.2");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return sender.send(aPost(`https://${HOST}:${port}/`, changes));
}

fails("tls_error", "incomplete_chain", "a certificate without its intermediate", async (t) => {
  const authority = await testAuthority();
  const between = await anIntermediate(authority);
  return postTo(t, [await issueCertificate(HOST, NAMES, { ...VALIDITY, authority: between })]);
});

fails("tls_error", "unknown_authority", "a chain that we do not know", async (t) => {
  const authority = await issueAuthority("Nobody's", VALIDITY);
  const between = await anIntermediate(authority);
  const own = await issueCertificate(HOST, NAMES, { ...VALIDITY, authority: between });
  return postTo(t, [own, between]);
});

fails("tls_error", "unknown_authority", "a chain with its own root", async (t) => {
  const authority = await issueAuthority("Nobody's", VALIDITY);
  return postTo(t, [await issueCertificate(HOST, NAMES, { ...VALIDITY, authority }), authority]);
});

fails("tls_error", "certificate_purpose", "a certificate for clients", async (t) =>
  postTo(t, [
    await issue(await testAuthority(), [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension([{ type: "dns", value: HOST }]),
    ]),
  ]),
);

/** Signs a certificate with these extensions. */
async function issue(authority: Certificate, extensions: Extension[]): Promise<Certificate> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const der = createPrivateKey(authority.key).export({ type: "pkcs8", format: "der" });
  const certificate = await X509CertificateGenerator.create({
    ...VALIDITY,
    subject: "CN=issued",
    issuer: new X509Certificate(authority.cert).subject,
    publicKey: keys.publicKey,
    signingKey: await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]),
    signingAlgorithm: algorithm,
    extensions,
  });
  const key = KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" });
  return { key: key.toString(), cert: certificate.toString("pem") };
}

function anIntermediate(authority: Certificate): Promise<Certificate> {
  return issue(authority, [new BasicConstraintsExtension(true, undefined, true)]);
}

for (const version of ["tls1_2", "tls1_3"]) {
  fails("tls_error", "client_certificate_required", `${version} with a client's`, async (t) => {
    const folder = await aTemporaryFolder(t);
    const authority = await testAuthority();
    const { key, cert } = await issueCertificate(HOST, NAMES, { ...VALIDITY, authority });
    const [keyFile, certFile, caFile] = ["key", "cert", "ca"].map((name) => join(folder, name));
    assert.ok(keyFile && certFile && caFile);
    await writeFile(keyFile, key);
    await writeFile(certFile, cert);
    await writeFile(caFile, authority.cert);
    const port = await freePort();
    const files = ["-key", keyFile, "-cert", certFile, "-CAfile", caFile];
    const strict = ["-Verify", "1", "-verify_return_error", `-${version}`, "-www"];
    const server = spawn("openssl", [
      ...["s_server", "-accept", `127.0.0.2:${port}`, ...files, ...strict],
    ]);
    t.after(() => server.kill());
    let said = "";
    server.stdout.on("data", (text: Buffer) => (said += String(text)));
    while (!said.includes("ACCEPT")) await once(server.stdout, "data");
    const sender = await startSender(t, { lookup: HERE });
    return sender.send(aPost(`https://${HOST}:${port}/`));
  });
}

/** Posts to a server that answers the first bytes with these. */
async function postToBytes(t: TestContext, bytes: string) {
  const server = createServer((socket) => {
    socket.on("error", () => undefined).once("data", () => socket.end(bytes, "latin1"));
  });
  return postToServer(t, server);
}

for (const [who, bytes] of [
  ["a receiver of plain HTTP", "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"],
  ["a server of SSH", "SSH-2.0-OpenSSH_9.2\r\n"],
  ["a server of mail", "220 mail.example ESMTP\r\n"],
] as const)
  fails("tls_error", "not_tls", who, (t) => postToBytes(t, bytes));

fails("tls_error", "alert", "a receiver that does not know the name", (t) =>
  postToBytes(t, "\x15\x03\x03\0\x02\x02\x70"),
);
fails("tls_error", "handshake_failed", "a receiver whose hello is empty", (t) =>
  postToBytes(t, "\x16\x03\x03\0\x04\x02\0\0\0"),
);

// Time

// Time

fails("timeout", "look_up", "a name that is not found in time", async (t) => {
  const sender = await startSender(t, {
    timeoutMs: 50,
    lookup: () => new Promise(() => undefined),
  });
  return sender.send(aPost(`https://${HOST}/`));
});
fails("timeout", "connect", "a firewall that drops packets", async (t) => {
  onConnect(t, (socket) => socket);
  const sender = await startSender(t, { timeoutMs: 200 });
  return sender.send(aPost("https://127.0.0.2/"));
});
fails("timeout", "handshake", "a receiver that is silent in the handshake", async (t) => {
  const { send } = await startPair(t, { timeoutMs: 500, accept: (socket) => socket.resume() });
  return send();
});
fails("timeout", "request", "a receiver that does not read", async (t) => {
  const authority = await testAuthority();
  const own = await issueCertificate(HOST, NAMES, { ...VALIDITY, authority });
  const body = Buffer.alloc(64 * 1024 * 1024);
  return postToServer(t, tls.createServer(own), { timeoutMs: 3_000, body }); // Nobody takes its data.
});
failsAfterTimeout("response", "a receiver that does not answer", scripts.hang);
failsAfterTimeout(
  "response",
  "a receiver that answers in part",
  scripts.raw("HTTP/1.1 200 OK\r\n"),
);

function failsAfterTimeout(detail: string, who: string, script: Script) {
  fails("timeout", detail, who, async (t) => {
    const { receiver, send } = await startPair(t, { timeoutMs: 2_000 });
    receiver.answer(script);
    return send();
  });
}

// Names

// Names

const ANSWERS: [detail: string, who: string, answer: Records | Failure][] = [
  ["no_such_name", "a name that does not exist", "NXDOMAIN"],
  ["no_address", "a name without an address", {}],
  ["name_servers_failed", "a name whose servers fail", "SERVFAIL"],
  ["name_servers_failed", "a name whose servers refuse", "REFUSED"],
  ["name_servers_failed", "a name whose servers fail for IPv4 alone", { A: "SERVFAIL" }],
  ["look_up_timed_out", "a name whose servers are silent", "silence"],
  ["look_up_timed_out", "a name whose servers are silent on IPv6", { AAAA: "silence" }],
];
for (const [detail, who, answer] of ANSWERS)
  fails("dns_error", detail, who, async (t) => {
    const dns = await startDnsServer(t, { [HOST]: answer });
    const sender = await startSender(t, {
      ...{ lookup: undefined, nameServers: [dns.address], lookUpMs: 900, policy: RECEIVERS },
    });
    return sender.send(aPost(`https://${HOST}/`));
  });

fails("dns_error", "no_such_name", "a name under .invalid", async (t) => {
  const sender = await startSender(t, { lookup: undefined });
  return sender.send(aPost("https://hooks.invalid/"));
});

// Connections

// Connections

failsAt("connection_reset", "before_request", "a connection that is reset before TLS", {
  accept: (socket: Socket) => socket.resetAndDestroy(),
});
failsAfter("connection_reset", "after_request", "a reset in place of an answer", scripts.reset);
failsAfter("connection_reset", "after_request", "an end in place of an answer", scripts.hangUp);

// HTTP

// HTTP

const OK = "HTTP/1.1 200 OK\r\n";
const SETTINGS = "\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64";
for (const [detail, who, bytes] of [
  ["not_http", "an answer without a status line", "220 mail.example ESMTP\r\n"],
  ["http2_only", "an answer in HTTP/2", SETTINGS],
  ["http_version", "an answer in HTTP/2 as text", `HTTP/2.0 200 OK\r\n${NO_BODY}`],
  ["http_version", "an answer in HTTP/1.2", `HTTP/1.2 200 OK\r\n${NO_BODY}`],
  ["headers_too_large", "headers of 17 KiB", `${OK}x: ${"y".repeat(17 * 1024)}\r\n${NO_BODY}`],
  ["headers_too_large", "many headers", `${OK}${"x: y\r\n".repeat(3_000)}${NO_BODY}`],
  ["malformed_headers", "a header without a name", `${OK}: y\r\n${NO_BODY}`],
  ["malformed_headers", "lines that end in a line feed alone", "HTTP/1.1 200 OK\n\n"],
  ["malformed_headers", "a status of two digits", `HTTP/1.1 20 OK\r\n${NO_BODY}`],
] as const)
  failsAfter("protocol_error", detail, who, scripts.raw(bytes));

fails("protocol_error", "http2_only", "a receiver that wants HTTP/2", async (t) => {
  const authority = await testAuthority();
  const own = await issueCertificate(HOST, NAMES, { ...VALIDITY, authority });
  const server = tls.createServer({ ...own, ALPNProtocols: ["h2"] });
  return postToServer(
    t,
    server.on("tlsClientError", () => undefined),
  );
});

test("alerts are read by their number, because the versions of OpenSSL name them differently", () => {
  for (const name of ["sslv3", "ssl/tls"]) {
    const message = `80EC:error:0A000410:SSL routines:ssl3_read_bytes:${name} alert handshake failure:x.c:1:`;
    const code = `ERR_SSL_${name.toUpperCase()}_ALERT_HANDSHAKE_FAILURE`;
    const error = Object.assign(new Error(message), { code });
    const outcome = outcomeOfError(error, "handshake", "TLSv1.3");
    assert.deepEqual(outcome, unreachable("tls_error", "no_shared_parameters"));
  }
});

test("each code has a test that produces it", () => {
  const all = Object.values(DETAILS).flat();
  assert.deepEqual([...shown].sort(), [...all].sort());
});
