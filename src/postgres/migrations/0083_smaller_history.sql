-- Finished deliveries need less for their indexes. ONLY: partitions that are made from now on get these indexes, so that none is
-- read for them. Those that they replace go with the last older partition.

-- A delivery that was made with its event carries the event's millisecond in its id. So an event's are found without an index of
-- all events, as its waiting ones are.
create index finished_deliveries_made_later on only finished_deliveries (event_id)
  where substring(uuid_send(id) from 1 for 6) <> substring(uuid_send(event_id) from 1 for 6);

-- For release 1.0.0, which searches by the event alone.
create index finished_deliveries_by_event on only finished_deliveries using brin (event_id uuid_minmax_multi_ops)
  with (pages_per_range = 16, autosummarize = on);

-- Deliveries of a subscription that were made in the same second share an entry. Queries read all of a second, and sort them.
create index finished_deliveries_of_subscription_by_span on only finished_deliveries
  (subscription_id, set_byte(substring(uuid_send(id) from 1 for 5), 4, get_byte(uuid_send(id), 4) & 252) desc);

-- What the index of a subscription's deliveries orders them by: their ids, and the second of each id once the index of ids is
-- dropped.
create function span_of(id uuid) returns uuid
language sql immutable as $$
  select id
$$;

-- As before. EXISTS would ignore the order, which makes PostgreSQL use an index: it does not know how few rows match.
create or replace function refers_to_events(since timestamptz, until timestamptz) returns boolean
language sql stable as $$
  select exists (select from waiting_deliveries w
                  where w.id >= first_id_at(since) and w.id < first_id_at(until))
      or exists (select from waiting_deliveries w
                  where substring(uuid_send(w.id) from 1 for 6) <> substring(uuid_send(w.event_id) from 1 for 6)
                    and w.event_id >= first_id_at(since) and w.event_id < first_id_at(until))
      or (select f.id from finished_deliveries f
           where f.id >= first_id_at(since) and f.id < first_id_at(until)
           order by f.id
           limit 1) is not null
      or (select f.event_id from finished_deliveries f
           where substring(uuid_send(f.id) from 1 for 6) <> substring(uuid_send(f.event_id) from 1 for 6)
             and f.event_id >= first_id_at(since) and f.event_id < first_id_at(until)
           order by f.event_id
           limit 1) is not null
$$;

-- Whether a partition has the new indexes.
create function has_new_indexes(part regclass) returns boolean
language sql stable as $$
  select count(*) = 3
    from pg_index i
    join pg_inherits h on h.inhrelid = i.indexrelid
   where i.indrelid = part
     and h.inhparent in ('finished_deliveries_made_later'::regclass, 'finished_deliveries_by_event'::regclass,
                         'finished_deliveries_of_subscription_by_span'::regclass)
$$;

-- Drops the replaced indexes once every partition has the new ones: at once in a new schema, and after the retention in one that
-- has partitions already.
create function drop_replaced_indexes() returns void
language plpgsql security definer as $$
begin
  perform lock_partitions();
  if to_regclass('finished_deliveries_of_event') is null
     or exists (select from history_partitions p
                 where p.relation = 'finished_deliveries'::regclass and not has_new_indexes(p.partition)) then
    return;
  end if;
  lock table only finished_deliveries in access exclusive mode;
  if not has_new_indexes('finished_deliveries_default') then
    -- To attach it makes what it lacks. It has few rows, or none.
    alter table finished_deliveries detach partition finished_deliveries_default;
    alter table finished_deliveries attach partition finished_deliveries_default default;
  end if;
  drop index finished_deliveries_of_event, finished_deliveries_of_subscription;
  drop function span_of(uuid);
  create function span_of(id uuid) returns bytea
  language sql immutable as $span$
    select set_byte(substring(uuid_send(id) from 1 for 5), 4, get_byte(uuid_send(id), 4) & 252)
  $span$;
  grant execute on function span_of to public;
end
$$;

do $$
begin
  execute format('alter function drop_replaced_indexes set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function has_new_indexes, drop_replaced_indexes from public;
