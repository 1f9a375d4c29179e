import type { Queryable } from "./database.ts";

/** Expired rows that one statement deletes. More would block other statements for long. */
export const DELETED_MAX = 5_000;

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
