import type { Database } from "../../src/postgres/database.ts";

/** From now on, commits wait for this standby. Without a name they wait for none. */
export async function setStandby(owner: Database, name: string): Promise<void> {
  await owner.unsafe(`alter system set synchronous_standby_names = '${name}'`);
  await owner`select pg_reload_conf()`;
}
