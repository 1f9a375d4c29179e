/**
 * A store in PostgreSQL for `handleOnce`, with a pool of `pg`:
 *
 *     create table received_events (
 *       id text primary key, state text not null, until timestamptz not null
 *     );
 */
export function createPostgresStore(pool) {
  const until = (forMs) => new Date(Date.now() + forMs);
  return {
    async add(id, state, forMs) {
      const added = await pool.query(
        `insert into received_events as known (id, state, until)
           values ($1, $2, $3)
         on conflict (id) do update
           set state = excluded.state, until = excluded.until
           where known.until <= $4
         returning id`,
        [id, state, until(forMs), new Date()],
      );
      if (added.rows.length > 0) return null;
      const known = await pool.query("select state from received_events where id = $1", [id]);
      return known.rows[0]?.state ?? "under_way"; // Deleted meanwhile: the other handler failed.
    },
    set: (id, state, forMs) =>
      pool.query(
        `insert into received_events (id, state, until)
           values ($1, $2, $3)
         on conflict (id) do update
           set state = excluded.state, until = excluded.until`,
        [id, state, until(forMs)],
      ),
    delete: (id) => pool.query("delete from received_events where id = $1", [id]),
  };
}
