import type { Database } from "../../src/postgres/database.ts";
import type { Afterwards } from "../ledger/afterwards.ts";
import { openDatabaseServer } from "../ledger/database-server.ts";
import { OUTBOX } from "../support/bridge.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import type { Broker } from "./ledger.ts";

/** An outbox on a PostgreSQL of its own, read in one of the two ways. */
export async function anOutboxBroker(t: Afterwards, read: "rows" | "replication"): Promise<Broker> {
  const folder = await aTemporaryFolder(t);
  const server = await openDatabaseServer(
    t,
    folder,
    read === "replication" ? { wal_level: "logical" } : {},
  );
  const { db } = server;
  await db.unsafe(OUTBOX);
  if (read === "replication") {
    await db.unsafe("create publication partner_api_bridge for table outbox");
    await db.unsafe("select pg_create_logical_replication_slot('partner_api_bridge', 'pgoutput')");
  }
  return {
    source: { kind: "outbox", url: server.url, read },
    write: (numbers) => insist(() => insert(db, numbers)),
    kill: () => server.harm(),
    setAside: () =>
      insist(async () => {
        const rows = await db<{ data: string }[]>`
          select data::text as data from outbox where set_aside is not null`;
        return rows.map(({ data }) => (JSON.parse(data) as { n: number }).n);
      }),
  };
}

/** A chunk whose commit's answer was lost is not written twice. */
async function insert(db: Database, numbers: readonly number[]): Promise<void> {
  const [first = 0] = numbers;
  await db`
    insert into outbox (organization, type, key, data)
    select 'acme', 'order.created', 'k' || abs(n) % 10, json_build_object('n', n)
      from unnest(${numbers}::integer[]) as n
     where not exists (select from outbox where (data ->> 'n')::integer = ${first}::integer)`;
}

export async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
