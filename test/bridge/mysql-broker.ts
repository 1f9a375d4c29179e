import { createPool, type RowDataPacket } from "mysql2/promise";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Afterwards } from "../ledger/afterwards.ts";
import { freePort } from "../support/free-port.ts";
import { samplesOf } from "../support/page-samples.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { startServer } from "./broker-server.ts";
import type { TlsFiles } from "./connections.ts";
import type { Broker } from "./ledger.ts";
import { insist } from "./outbox-ledger.ts";

/** A MariaDB with the outbox of the documentation in the database `shop`. */
export async function startMariaDb(
  t: Pick<Afterwards, "after">,
  tls?: TlsFiles,
  further: readonly string[] = [],
) {
  const folder = await aTemporaryFolder(t);
  const port = await freePort();
  const [data, socket] = [join(folder, "data"), join(folder, "socket")];
  const options = ["--no-defaults", `--datadir=${data}`, "--user=root"];
  const install = [...options, "--auth-root-authentication-method=normal", "--skip-test-db"];
  await promisify(execFile)("mariadb-install-db", install);
  const where = [`--port=${port}`, "--bind-address=127.0.0.1", `--socket=${socket}`];
  const files = [`--pid-file=${join(folder, "pid")}`, "--innodb-buffer-pool-size=32M"];
  if (tls) files.push(`--ssl-cert=${tls.cert}`, `--ssl-key=${tls.key}`, `--ssl-ca=${tls.ca}`);
  const { kill } = await startServer(t, port, [
    "mariadbd",
    ...options,
    ...where,
    ...files,
    ...further,
  ]);
  const root = `root@127.0.0.1:${port}`;
  const url = `mariadb://${root}/shop`;
  const db = createPool({ uri: `mysql://${root}`, multipleStatements: true, connectionLimit: 2 });
  t.after(() => db.end().catch(() => undefined));
  const { sample } = await samplesOf("bridge.md");
  await insist(() => db.query("create database shop"));
  await db.query(`use shop; ${sample("sql mysql")}`);
  return { url, kill, db, port };
}

/** The options of the first node of a Galera cluster. */
export async function ofGalera(): Promise<string[]> {
  const port = await freePort();
  return [
    ...["--wsrep-on=ON", "--wsrep-provider=/usr/lib/galera/libgalera_smm.so"],
    ...["--wsrep-new-cluster", "--wsrep-cluster-address=gcomm://", "--binlog-format=ROW"],
    `--wsrep-node-address=127.0.0.1:${port}`,
    `--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:${port}`,
  ];
}

export async function aMariaDbBroker(t: Afterwards): Promise<Broker> {
  const { url, kill, db } = await startMariaDb(t);
  return {
    source: { kind: "outbox", url },
    /** A chunk whose commit's answer was lost is not written twice. */
    write: (numbers) =>
      insist(async () => {
        const [first = 0] = numbers;
        const asked = "select 1 from shop.outbox where json_value(data, '$.n') = ?";
        const [found] = await db.query<RowDataPacket[]>(asked, [first]);
        if (found.length > 0) return;
        const rows = numbers.map((n) => ["acme", "order.created", `k${n % 10}`, `{"n":${n}}`]);
        const insert = "insert into shop.outbox (organization, type, `key`, data) values ?";
        await db.query(insert, [rows]);
      }),
    kill,
    setAside: () =>
      insist(async () => {
        const asked = "select data from shop.outbox where set_aside is not null";
        const [rows] = await db.query<(RowDataPacket & { data: { n: number } })[]>(asked);
        return rows.map(({ data }) => data.n);
      }),
  };
}
