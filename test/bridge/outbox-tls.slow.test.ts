// Depends on: src
import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { chmod, chown, writeFile } from "node:fs/promises";
import { connect as dial, createServer } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import { connect } from "../../src/postgres/database.ts";
import { OUTBOX } from "../support/bridge.ts";
import { openPort } from "../support/free-port.ts";
import { checkConnections, type TlsFiles, tlsFiles } from "./connections.ts";

const PASSWORD = "secret-of-the-bridge";

for (const read of ["rows", "replication"] as const) {
  test(`over TLS, rows are published by ${read}, and each fault of a connection is named`, async (t) => {
    const files = await tlsFiles(t);
    const strangerFile = join(files.folder, "stranger.pem");
    await writeFile(strangerFile, files.stranger);
    const place = await aSecureOutbox(t, files);
    const urlOf = (query: string, host = "localhost", password = PASSWORD) => ({
      url: `postgres://bridge:${password}@${host}:${place}?${query}`,
    });
    const verified = `sslmode=verify-full&sslrootcert=${files.ca}`;
    await checkConnections(t, {
      source: { name: "orders", kind: "outbox", read, ...urlOf(verified) },
      secrets: [PASSWORD, "wrong-password"],
      faults: [
        [urlOf(""), /no encryption/],
        [urlOf("sslmode=disable"), /no encryption/],
        [urlOf("sslmode=require"), /certificate/],
        [urlOf("sslmode=verify-full"), /certificate/],
        [urlOf(`sslmode=verify-full&sslrootcert=${strangerFile}`), /certificate/],
        [urlOf(`sslmode=require&sslrootcert=${strangerFile}`), /certificate/],
        [urlOf(verified, "127.0.0.1"), /IP: 127\.0\.0\.1 is not in the cert/],
        [urlOf(verified, "localhost", "wrong-password"), /password authentication failed/],
      ],
    });
  });
}

/** An outbox with one row, on a server that lets the bridge in over TLS alone. Returns its port at 127.0.0.1, with the path to it. */
async function aSecureOutbox(t: TestContext, files: TlsFiles): Promise<string> {
  const dataDir = join(files.folder, "data");
  const listening = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(2, 255)}`;
  const hba = join(files.folder, "pg_hba.conf");
  await writeFile(
    hba,
    "local all all trust\nhostssl all bridge 127.0.0.1/32 scram-sha-256\nhost all bridge 127.0.0.1/32 reject\n",
  );
  if (process.getuid?.() === 0)
    await chown(files.key, 0, Number(execFileSync("id", ["-g", "postgres"]).toString()));
  await chmod(files.key, 0o640); // PostgreSQL accepts a key of root only if its own group may read it.
  const server = await startEmbedded({
    dataDir,
    log: () => undefined,
    settings: {
      ...{ listen_addresses: listening, hba_file: hba, wal_level: "logical" },
      ...{ ssl: "on", ssl_cert_file: files.cert, ssl_key_file: files.key },
    },
  });
  t.after(async () => {
    await server.stop();
    await removeEmbedded(dataDir);
  });
  const db = connect(server.url, { max: 1, name: "test" });
  await db.unsafe(OUTBOX);
  await db.unsafe(`create publication partner_api_bridge for table outbox;
    create role bridge login replication password '${PASSWORD}'; grant select, update on outbox to bridge`);
  await db.unsafe("select pg_create_logical_replication_slot('partner_api_bridge', 'pgoutput')");
  await db.unsafe(
    `insert into outbox (organization, type, data) values ('acme', 'order.created', '{"n": 1}')`,
  );
  await db.end({ timeout: 1 });
  const forwarder = createServer((client) => {
    const there = dial({ host: listening, port: 5432, localAddress: "127.0.0.1" });
    for (const socket of [client, there]) socket.on("error", () => undefined);
    client.pipe(there).pipe(client);
  });
  return `${await openPort(t, forwarder)}/${db.options.database}`;
}
