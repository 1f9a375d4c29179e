-- As before, but all tables are locked first, in the order in which an accept takes them, and only when a partition has
-- expired. Locks taken one by one met accepts and records halfway: on a busy service nothing was ever dropped.
create or replace function drop_expired_partitions(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  horizon constant timestamptz := least(moment, clock_timestamp()) - retention();
  dropped integer := 0;
begin
  if horizon is null then -- `least` would pass over it.
    raise exception 'nobody has written down how long history is kept';
  end if;
  perform pg_advisory_xact_lock(hashtext('partner-api partitions'));
  if exists (select from history_partitions p where p.until <= horizon) then
    lock table events, waiting_deliveries, finished_deliveries, attempts in access exclusive mode;
    dropped := dropped + drop_partitions_until('finished_deliveries', horizon);
    dropped := dropped + drop_partitions_until('attempts', horizon);
    dropped := dropped + drop_partitions_until('events', least(horizon,
      moment_of((select event_id from waiting_deliveries order by event_id limit 1)),
      moment_of((select event_id from finished_deliveries order by event_id limit 1))));
  end if;

  delete from finished_deliveries_default where finished_at < horizon;
  delete from attempts_default where id < first_id_at(horizon);
  if exists (select from events_default e where e.id < first_id_at(horizon)) then
    lock table waiting_deliveries in share row exclusive mode;
    delete from events_default e
     where e.id < first_id_at(horizon)
       and not exists (select from waiting_deliveries w where w.event_id = e.id)
       and not exists (select from finished_deliveries f where f.event_id = e.id);
  end if;

  delete from subscriptions s
   where s.deleted_at < horizon
     and not exists (select from waiting_deliveries w where w.subscription_id = s.id)
     and not exists (select from finished_deliveries f where f.subscription_id = s.id);
  return dropped;
end
$$;

-- A function that is replaced forgets its path.
do $$
begin
  execute format('alter function drop_expired_partitions set search_path = %I, pg_temp', current_schema());
end
$$;
