import type { Queryable } from "./database.ts";
import { DELETED_MAX } from "./deletion.ts";

/** Deletes keys that were taken before `horizon`. Returns true if some may be left. */
export async function deleteOldKeys(db: Queryable, horizon: Date): Promise<boolean> {
  const { count } = await db`
    delete from dedupe_keys
     where (organization_id, key) in (
       select organization_id, key
         from dedupe_keys
        where at < ${horizon}
        order by at
        limit ${DELETED_MAX}
          for update skip locked)`;
  return count === DELETED_MAX;
}
