-- Fills every gap in the time around `moment`, so that a process whose clock ran ahead keeps nobody from a partition.
create or replace function create_partitions(moment timestamptz) returns void
language plpgsql security definer as $$
declare
  width constant interval := partition_width();
  part record;
  start_at timestamptz;
  end_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtext('partner-api partitions'));
  for part in select * from history loop
    start_at := to_timestamp(
      floor(extract(epoch from moment) / extract(epoch from width)) * extract(epoch from width));
    while start_at < moment + 3 * width loop
      select p.until into end_at from history_partitions p
       where p.relation = part.relation and p.since <= start_at and p.until > start_at;
      if not found then
        select least(start_at + width, min(p.since)) into end_at from history_partitions p
         where p.relation = part.relation and p.since > start_at;
        perform create_partition(part.relation, part.keyed_by_id, start_at, end_at);
      end if;
      start_at := end_at;
    end loop;
  end loop;
end
$$;

-- What runs with the owner's rights must not be led astray by a caller: unless the path names it, a caller's own
-- temporary tables come first, and one of those could tell another retention.
do $$
begin
  execute format('alter function create_partitions set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_expired_partitions set search_path = %I, pg_temp', current_schema());
end
$$;

-- Whoever may call these is told one by one.
revoke execute on function create_partition, create_partitions, drop_partitions_until, drop_expired_partitions
  from public;
