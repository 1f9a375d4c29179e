/**
 * A store in PostgreSQL for `handleOnce`, with postgres.js:
 *
 *     create table received_events (
 *       id text primary key, state text not null, until timestamptz not null
 *     );
 */
export function createPostgresStore(sql) {
  const until = (forMs) => new Date(Date.now() + forMs);
  return {
    async add(id, state, forMs) {
      const added = await sql`
        insert into received_events as known (id, state, until)
          values (${id}, ${state}, ${until(forMs)})
        on conflict (id) do update
          set state = excluded.state, until = excluded.until
          where known.until <= ${new Date()}
        returning id`;
      if (added.length > 0) return null;
      const [known] = await sql`
        select state from received_events where id = ${id}`;
      return known?.state ?? "under_way"; // Deleted meanwhile: the other handler failed.
    },
    set: (id, state, forMs) => sql`
      insert into received_events (id, state, until)
        values (${id}, ${state}, ${until(forMs)})
      on conflict (id) do update
        set state = excluded.state, until = excluded.until`,
    delete: (id) => sql`delete from received_events where id = ${id}`,
  };
}
