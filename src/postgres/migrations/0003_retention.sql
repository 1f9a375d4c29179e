-- Events go when nothing of their own period refers to them any more. A lock on the history is held for a moment only.

-- Deliveries made later than their event: redeliveries. Any other carries the millisecond of its event in its id, so that
-- it needs no index on the event.
create index waiting_deliveries_made_later on waiting_deliveries (event_id)
  where substring(uuid_send(id) from 1 for 6) <> substring(uuid_send(event_id) from 1 for 6);

-- One process at a time looks after the partitions of a schema.
create function lock_partitions() returns void
language sql as $$
  select pg_advisory_xact_lock(hashtext('partner-api partitions of ' || current_schema()))
$$;

-- Whether a delivery may refer to an event of this period: it was made in it, or later for such an event.
create function refers_to_events(since timestamptz, until timestamptz) returns boolean
language sql stable as $$
  select exists (select from waiting_deliveries w
                  where w.id >= first_id_at(since) and w.id < first_id_at(until))
      or exists (select from waiting_deliveries w
                  where substring(uuid_send(w.id) from 1 for 6) <> substring(uuid_send(w.event_id) from 1 for 6)
                    and w.event_id >= first_id_at(since) and w.event_id < first_id_at(until))
      or exists (select from finished_deliveries f
                  where f.event_id >= first_id_at(since) and f.event_id < first_id_at(until))
$$;

create or replace function expired_partitions(parent text, horizon timestamptz) returns setof regclass
language sql stable as $$
  select p.partition
    from history_partitions p
   where p.relation = parent::regclass and p.until <= horizon
     and (parent <> 'events' or not refers_to_events(p.since, p.until))
$$;

-- Drops one expired partition of a table, and returns how many: call it again, in a new transaction, until it is none.
-- While there is nothing to drop, nothing is locked.
create or replace function drop_expired_partitions(parent text, moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  horizon constant timestamptz := horizon_at(moment);
  part regclass;
begin
  perform lock_partitions();
  select expired into part from expired_partitions(parent, horizon) as expired limit 1;
  if part is null then
    return 0;
  end if;
  -- A session that uses a partition holds a lock on its table, too.
  execute format('lock table only %I in access exclusive mode', parent);
  -- Once more: what refers to an event has read it, and is committed now or still to come.
  if not exists (select from expired_partitions(parent, horizon) as expired where expired = part) then
    return 0;
  end if;
  execute format('drop table %s', part);
  return 1;
end
$$;

do $$
begin
  execute format('alter function drop_expired_partitions set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function lock_partitions, refers_to_events from public;
