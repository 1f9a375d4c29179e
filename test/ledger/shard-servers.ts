import { join } from "node:path";
import type { Afterwards } from "./afterwards.ts";
import {
  type DatabaseServer,
  type LedgerShard,
  openShard,
  startServer,
} from "./database-server.ts";

const SERVERS = 2;

/**
 * Shards on two servers in turn. The shards of a server are schemas of one database. The fault is a SIGKILL
 * of the main process, always of the same server.
 */
export async function openShardServers(
  afterwards: Afterwards,
  folder: string,
  { count, victim }: { count: number; victim: number },
): Promise<DatabaseServer> {
  const servers: Awaited<ReturnType<typeof startServer>>[] = [];
  for (let i = 0; i < SERVERS; i++) {
    servers.push(await startServer(afterwards, join(folder, `data-${i}`)));
  }
  const shards: LedgerShard[] = [];
  for (let i = 0; i < count; i++) {
    const name = String(i).padStart(2, "0");
    const shard = openShard(afterwards, name, `${serverOf(i).url}?search_path=s${name}`);
    await shard.db`create schema ${shard.db(`s${name}`)}`;
    shards.push(shard);
  }
  const harmed = shards.filter((_, i) => serverOf(i) === serverOf(victim)).map(({ name }) => name);
  return {
    shards,
    spared: shards.map(({ name }) => name).filter((name) => !harmed.includes(name)),
    harm: async () => ({ ...(await serverOf(victim).end("SIGKILL")), shards: harmed }),
  };

  function serverOf(shard: number) {
    const server = servers[shard % SERVERS];
    if (!server) throw new Error("there is no server");
    return server;
  }
}
