import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect as dial, createServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { connect as dialTls, TLSSocket } from "node:tls";
import { connect, isUnavailable } from "../../src/postgres/database.ts";
import { removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import { certificate, testAuthority } from "../support/certificates.ts";
import { openPort } from "../support/free-port.ts";

const folder = await mkdtemp(join(tmpdir(), "tls-"));
const [dataDir, authorityFile, strangerFile] = ["data", "ca.pem", "stranger.pem"].map((name) =>
  join(folder, name),
) as [string, string, string];
/** Uses loopback and its own port, because the built-in server has only one port. */
const listening = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(2, 255)}`;

/** Each has a role that must sign in so. */
const METHODS = ["scram-sha-256", "md5", "password"];
const roleOf = (method: string) => `by_${method.replaceAll("-", "_")}`;
const PASSWORD = "of-the-tests";

/** PostgreSQL with TLS on loopback. Its certificate is for `localhost`, and not for 127.0.0.1. */
const server = await startEmbedded({
  dataDir,
  settings: await settingsOfTls(),
  log: () => undefined,
});
const forwarder = createServer((client) => {
  const there = dial({ host: listening, port: 5432, localAddress: "127.0.0.1" });
  for (const socket of [client, there]) socket.on("error", () => undefined);
  client.pipe(there).pipe(client);
}).listen(0, "127.0.0.1");
await once(forwarder, "listening");
const { port } = forwarder.address() as AddressInfo;
after(async () => {
  forwarder.close();
  await server.stop();
  await removeEmbedded(dataDir);
  await rm(folder, { recursive: true });
});
const admin = connect(server.url, { max: 1, name: "test" });
const { user, database, password } = admin.options;
for (const method of METHODS) {
  const kept = method === "md5" ? "md5" : "scram-sha-256";
  await admin.unsafe(
    `set password_encryption = '${kept}'; create role ${roleOf(method)} login password '${PASSWORD}'`,
  );
}
await admin.end({ timeout: 1 });

async function settingsOfTls(): Promise<Record<string, string>> {
  const options = { addresses: [], kind: "good" } as const;
  const { key, cert } = await certificate({ ...options, hosts: ["localhost"] });
  const stranger = await certificate({ ...options, hosts: ["localhost"], kind: "self-signed" });
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const rightsFile = join(folder, "pg_hba.conf");
  await chmod(folder, 0o755);
  await writeFile(keyFile, key, { mode: 0o600 });
  await writeFile(certFile, cert);
  const ways = METHODS.map((method) => `host all +${roleOf(method)} 127.0.0.1/32 ${method}`);
  const rights = ["local all all trust", ...ways, "host all all 127.0.0.1/32 trust", ""];
  await writeFile(rightsFile, rights.join("\n"));
  await writeFile(authorityFile, (await testAuthority()).cert);
  await writeFile(strangerFile, stranger.cert);
  if (process.getuid?.() === 0) {
    await chown(keyFile, 0, Number(execFileSync("id", ["-g", "postgres"]).toString()));
    await chmod(keyFile, 0o640); // PostgreSQL accepts a key of root only if its own group may read it.
  }
  return {
    listen_addresses: listening,
    hba_file: rightsFile,
    ssl: "on",
    ssl_cert_file: certFile,
    ssl_key_file: keyFile,
  };
}

const OWNER = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;

async function isEncrypted(
  hosts: string,
  query: string,
  role = OWNER,
): Promise<boolean | undefined> {
  const db = connect(`postgres://${role}@${hosts}/${database}${query}`, { max: 1, name: "test" });
  try {
    const [row] = await db<{ ssl: boolean }[]>`
      select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.ssl;
  } finally {
    await db.end({ timeout: 1 });
  }
}

const [name, address] = [`localhost:${port}`, `127.0.0.1:${port}`];
const rootcert = `sslrootcert=${authorityFile}`;

for (const [host, query, encrypted] of [
  [name, "", false],
  [name, "?sslmode=disable", false],
  [name, "?sslmode=prefer", true],
  [name, "?sslmode=require", true],
  [address, "?sslmode=require", true],
  [address, `?sslmode=verify-ca&${rootcert}`, true],
  [name, `?sslmode=verify-full&${rootcert}`, true],
  [`127.0.0.1:1,${name}`, `?sslmode=verify-full&${rootcert}`, true],
  [`${address},${name}`, `?sslmode=verify-full&${rootcert}`, true],
] as const) {
  const what = query.replace(authorityFile, "…") || "no parameters";
  const hosts = host.replaceAll(`${port}`, "…");
  test(`${hosts} with ${what} is ${encrypted ? "encrypted" : "not encrypted"}`, async () => {
    assert.equal(await isEncrypted(host, query), encrypted);
  });
}

const verified = `sslmode=verify-full&${rootcert}`;

for (const [title, host, query, method] of [
  ["TLS without PostgreSQL's request", name, `?${verified}&sslnegotiation=direct`],
  ["an address beside the name", "", `?host=localhost&hostaddr=127.0.0.1&port=${port}&${verified}`],
  ["the newest TLS", name, `?${verified}&ssl_min_protocol_version=TLSv1.3`],
  ["channel binding", name, `?${verified}&channel_binding=require`, "scram-sha-256"],
  [
    "channel binding, unverified",
    name,
    "?sslmode=require&channel_binding=require",
    "scram-sha-256",
  ],
  ["SCRAM alone", name, `?${verified}&require_auth=scram-sha-256`, "scram-sha-256"],
  ["anything but a password in clear text", name, `?${verified}&require_auth=!password`, "md5"],
  ["no method at all", name, `?${verified}&require_auth=none,md5`],
] as const) {
  test(`a URL can demand ${title}`, async () => {
    const role = method === undefined ? OWNER : `${roleOf(method)}:${PASSWORD}`;
    assert.equal(await isEncrypted(host, query, role), true);
  });
}

test("a role can sign in whose password the server hashes 600,000 times", async () => {
  const admin = connect(server.url, { max: 1, name: "test" });
  await admin.unsafe(
    `set scram_iterations = 600000; create role patient login password '${PASSWORD}' in role ${roleOf("scram-sha-256")}`,
  );
  await admin.end({ timeout: 1 });
  const [host, query] = [name, `?${verified}&require_auth=scram-sha-256`];
  assert.equal(await isEncrypted(host, query, `patient:${PASSWORD}`), true);
});

for (const [query, method, words] of [
  ["channel_binding=require", "password", /does not offer channel binding/],
  ["channel_binding=require", "md5", /does not offer channel binding/],
  ["channel_binding=require", undefined, /does not offer channel binding/],
  ["require_auth=scram-sha-256", "password", /asks for password, which require_auth/],
  ["require_auth=scram-sha-256", "md5", /asks for md5, which require_auth/],
  ["require_auth=scram-sha-256", undefined, /asks for no proof .* which require_auth/],
  ["require_auth=!scram-sha-256", "scram-sha-256", /asks for scram-sha-256, which/],
] as const) {
  test(`with ${query} a server that asks for ${method ?? "nothing"} is refused`, async () => {
    const role = method === undefined ? OWNER : `${roleOf(method)}:${PASSWORD}`;
    await assert.rejects(isEncrypted(name, `?${verified}&${query}`, role), { message: words });
  });
}

/** Ends TLS with a certificate of its own, and begins it again with the server: somebody in between. */
async function portInBetween(t: TestContext): Promise<number> {
  const { key, cert } = await certificate({ addresses: [], hosts: ["localhost"], kind: "good" });
  return openPort(
    t,
    createServer((client) => {
      const there = dial({ host: listening, port: 5432, localAddress: "127.0.0.1" });
      client.on("error", () => there.destroy()).once("data", (request) => there.write(request));
      there
        .on("error", () => client.destroy())
        .once("data", (permission) => {
          client.write(permission);
          const ours = new TLSSocket(client, { isServer: true, key, cert });
          const theirs = dialTls({ socket: there, rejectUnauthorized: false });
          ours.on("error", () => theirs.destroy()).pipe(theirs);
          theirs.on("error", () => ours.destroy()).pipe(ours);
        });
    }),
  );
}

test("with channel_binding=require nobody in between can sign in", async (t) => {
  const host = `localhost:${await portInBetween(t)}`;
  const role = `${roleOf("scram-sha-256")}:${PASSWORD}`;
  assert.equal(await isEncrypted(host, "?sslmode=require", role), true);
  await assert.rejects(isEncrypted(host, "?sslmode=require&channel_binding=require", role), {
    message: /channel binding/,
  });
});

for (const [negotiation, first, what] of [
  ["direct", 0x16, "TLS"],
  ["postgres", 0, "PostgreSQL's request for it"],
] as const) {
  test(`with sslnegotiation=${negotiation} a connection begins with ${what}`, async (t) => {
    const heard: Buffer[] = [];
    const port = await openPort(
      t,
      createServer((client) => {
        client
          .on("error", () => undefined)
          .once("data", (bytes) => {
            heard.push(bytes);
            client.destroy();
          });
      }),
    );
    const query = `?sslmode=require&sslnegotiation=${negotiation}`;
    await assert.rejects(isEncrypted(`127.0.0.1:${port}`, query));
    assert.equal(heard[0]?.[0], first);
  });
}

for (const [query, asked] of [
  ["keepalives_idle=30", [true, 30_000]],
  ["keepalives=0", undefined],
] as const) {
  test(`${query} is followed`, async (t) => {
    const { mock } = t.mock.method(Socket.prototype, "setKeepAlive");
    await isEncrypted(address, `?${query}`);
    assert.deepEqual(mock.calls[0]?.arguments, asked);
  });
}

test("a revoked certificate is looked for in the list of the URL", async () => {
  const crlFile = join(folder, "list.crl");
  await writeFile(crlFile, "no list");
  await assert.rejects(isEncrypted(name, `?${verified}&sslcrl=${crlFile}`), /CRL/i);
});

const UNKNOWN = /^localhost:\d+: unable to verify the first certificate/;
const stranger = (mode: string) => `?sslmode=${mode}&sslrootcert=${strangerFile}`;

for (const [title, host, query, words] of [
  [
    "a certificate for another host's name is refused, with both names",
    address,
    `?sslmode=verify-full&${rootcert}`,
    /^127\.0\.0\.1:\d+: .*127\.0\.0\.1.*cert/,
  ],
  ["an unknown authority is refused by verify-full", name, stranger("verify-full"), UNKNOWN],
  ["an unknown authority is refused by verify-ca", name, stranger("verify-ca"), UNKNOWN],
  ["an authority that is named is asked for by require, too", name, stranger("require"), UNKNOWN],
] as const) {
  test(title, async () => {
    await assert.rejects(isEncrypted(host, query), (error: Error) => {
      assert.match(error.message, words);
      assert.doesNotMatch(error.message, /\n/);
      return !isUnavailable(error); // A wrong certificate does not go away by itself, so it is not an outage.
    });
  });
}

test("NODE_TLS_REJECT_UNAUTHORIZED=0 weakens nothing that sslmode demands", async (t) => {
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  t.after(() => delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
  for (const [host, query] of [
    [name, `?sslmode=verify-full&sslrootcert=${strangerFile}`],
    [name, `?sslmode=verify-ca&sslrootcert=${strangerFile}`],
    [name, `?sslmode=require&sslrootcert=${strangerFile}`],
    [name, "?sslmode=verify-full"],
    [address, `?${verified}`],
  ] as const)
    await assert.rejects(isEncrypted(host, query), query);
  assert.equal(await isEncrypted(name, `?${verified}`), true);
});

test("require refuses a server without TLS, and prefer accepts it", async () => {
  const admin = connect(server.url, { max: 1, name: "test" });
  const reload = async (ssl: string) => {
    await admin.unsafe(`alter system set ssl = ${ssl}`);
    await admin`select pg_reload_conf()`;
    for (;;) {
      const other = connect(server.url, { max: 1, name: "test" });
      const [row] = await other<{ ssl: string }[]>`select current_setting('ssl') as ssl`;
      await other.end({ timeout: 1 });
      if (row?.ssl === ssl) return;
    }
  };
  await reload("off");
  await assert.rejects(
    isEncrypted(name, "?sslmode=require"),
    /^Error: localhost:\d+: The server does not support SSL connections$/,
  );
  assert.equal(await isEncrypted(name, "?sslmode=prefer"), false);
  await reload("on");
  await admin.end({ timeout: 1 });
});
