-- Partitions that have expired and are detached. Each is dropped once a command has exported it.

create table history_exports (
  partition     text        primary key check (length(partition) <= 63),
  -- The end of the time that its rows are of.
  until         timestamptz not null,
  lease_id      uuid,
  -- The end of the lease. Without a lease, the time of the next try.
  next_at       timestamptz not null,
  failures      integer     not null default 0 check (failures >= 0),
  failing_since timestamptz,
  last_failure  text        check (length(last_failure) <= 200),

  check ((failures > 0) = (failing_since is not null) and (failures > 0) = (last_failure is not null))
);

-- Detaches one expired partition of a table and returns how many: call it again, in a new transaction, until it is none. It
-- gets a name of its own, because a stray may need a partition for the same time.
create function detach_expired_partition(parent text, moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  horizon constant timestamptz := horizon_at(moment);
  part record;
begin
  perform lock_partitions();
  select * into part from detachable_partitions(parent, horizon) limit 1;
  if not found then
    return 0;
  end if;
  execute format('lock table only %I in access exclusive mode', parent);
  -- Once more: what refers to an event has read it, and is committed now or still to come.
  if not exists (select from detachable_partitions(parent, horizon) d where d.partition = part.partition) then
    return 0;
  end if;
  execute format('alter table %I detach partition %s', parent, part.partition);
  execute format('alter table %s rename to %I', part.partition, part.detached);
  insert into history_exports (partition, until, next_at) values (part.detached, part.until, least(moment, clock_timestamp()));
  return 1;
end
$$;

create function detachable_partitions(parent text, horizon timestamptz)
returns table (partition regclass, until timestamptz, detached text)
language sql stable as $$
  select p.partition, p.until, c.relname || '_expired'
    from expired_partitions(parent, horizon) as expired
    join history_partitions p on p.partition = expired
    join pg_class c on c.oid = expired
   where not exists (select from history_exports e where e.partition = c.relname || '_expired')
$$;

-- Lets the caller's role read a partition that waits for its export. Its parent's rights do not hold for it any more. If the owner
-- has dropped the table, it does not wait any more, and the result is false.
create function permit_export(detached text) returns boolean
language plpgsql security definer as $$
begin
  if to_regclass(format('%I', detached)) is null then
    delete from history_exports e where e.partition = detached;
    return false;
  end if;
  if not exists (select from history_exports e where e.partition = detached) then
    return false;
  end if;
  execute format('grant select on %I to %I', detached, session_user);
  return true;
end
$$;

-- Drops a partition whose export has succeeded under this lease. Returns false if the lease is lost, or if the partition is
-- younger than the retention.
create function drop_exported_partition(detached text, lease uuid, moment timestamptz) returns boolean
language plpgsql security definer as $$
begin
  delete from history_exports e
   where e.partition = detached and e.lease_id = lease and e.until <= horizon_at(moment);
  if not found then
    return false;
  end if;
  execute format('drop table %I', detached);
  return true;
end
$$;

do $$
begin
  execute format('alter function detach_expired_partition set search_path = %I, pg_temp', current_schema());
  execute format('alter function permit_export set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_exported_partition set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute
  on function detach_expired_partition, detachable_partitions, permit_export, drop_exported_partition
  from public;
