-- Many strays stay where they are. PostgreSQL reads a whole default partition, under a lock, for each partition that is made
-- beside it. So, instead of moving strays a part at a time, the default partition becomes the partition of their time, and an
-- empty one takes its place: the strays are read once.

create or replace function move_strays(parent text) returns boolean
language plpgsql security definer as $$
declare
  relation constant regclass := parent;
  keyed_by_id constant boolean := (select h.keyed_by_id from history h where h.relation = parent::regclass);
  key constant text := (select h.key from history h where h.relation = parent::regclass);
  strays constant text := parent || '_default';
  moment constant text := case when keyed_by_id then format('moment_of(%I)', key) else key end;
  first_at timestamptz;
  next_at timestamptz;
  since timestamptz;
  until timestamptz;
  part text;
begin
  perform lock_partitions();
  execute format('select %s from %I order by %I limit 1', moment, strays, key) into first_at;
  if first_at is null then
    return false;
  end if;
  first_at := date_trunc('milliseconds', first_at);

  select greatest(period_at(first_at), max(p.until)) into since from history_partitions p
   where p.relation = parent::regclass and p.until <= first_at;
  select least(period_at(first_at) + partition_width(), min(p.since)) into until from history_partitions p
   where p.relation = parent::regclass and p.since > first_at;
  execute format('select %s from %I where %3$I < %4$L order by %3$I offset 5000 limit 1',
    moment, strays, key, bound_at(keyed_by_id, until))
    into next_at;
  if next_at is not null then
    if adopt_strays(parent, since) then
      return true;
    end if;
    until := greatest(date_trunc('milliseconds', next_at), first_at + interval '1 millisecond');
  end if;

  part := partition_name(relation, since);
  -- What writes a row then waits, and finds the new partition. Without the lock it would find that its row has no place.
  execute format('lock table only %I in access exclusive mode', parent);
  execute format('create table %I (like %I including all)', part, parent);
  execute format('with moved as (delete from %I where %3$I < %4$L returning *) insert into %2$I select * from moved',
    strays, part, key, bound_at(keyed_by_id, until));
  execute format('alter table %I attach partition %I for values from (%L) to (%L)',
    parent, part, bound_at(keyed_by_id, since), bound_at(keyed_by_id, until));
  return true;
end
$$;

-- Makes the default partition the partition of the time from `first_at` to the end of the present period, or to the next
-- partition. Up to 5,000 strays of later times move into the new default partition. Returns false, and changes nothing, if
-- there are at most 50,000 strays in all, or more of later times.
create function adopt_strays(parent text, first_at timestamptz) returns boolean
language plpgsql as $$
declare
  relation constant regclass := parent;
  keyed_by_id constant boolean := (select h.keyed_by_id from history h where h.relation = parent::regclass);
  key constant text := (select h.key from history h where h.relation = parent::regclass);
  strays constant text := parent || '_default';
  part constant text := partition_name(parent::regclass, first_at);
  moment constant text := case when keyed_by_id then format('moment_of(%I)', key) else key end;
  last_at timestamptz;
  end_at timestamptz;
  is_more boolean;
begin
  execute format('select exists (select from %I order by %I offset 50000 limit 1)', strays, key) into is_more;
  if not is_more then
    return false;
  end if;
  execute format('select %s from %I where %3$I < %4$L order by %3$I desc limit 1',
    moment, strays, key, bound_at(keyed_by_id, period_at(clock_timestamp()) + partition_width()))
    into last_at;
  if last_at is null then
    return false;
  end if;
  select least(period_at(last_at) + partition_width(), min(p.since)) into end_at from history_partitions p
   where p.relation = parent::regclass and p.since > first_at;
  execute format('select exists (select from %I where %2$I >= %3$L order by %2$I offset 5000 limit 1)',
    strays, key, bound_at(keyed_by_id, end_at))
    into is_more;
  if is_more then
    return false;
  end if;

  execute format('lock table only %I in access exclusive mode', parent);
  execute format('alter table %I detach partition %I', parent, strays);
  execute format('alter table %I rename to %I', strays, part);
  execute format('create table %I (like %I including all)', strays, part);
  if relation = 'events'::regclass then
    execute format('alter table %I alter column data set statistics 0', strays);
  end if;
  execute format('with later as (delete from %I where %3$I >= %4$L returning *) insert into %2$I select * from later',
    part, strays, key, bound_at(keyed_by_id, end_at));
  execute format('alter table %I attach partition %I default', parent, strays);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)',
    parent, part, bound_at(keyed_by_id, first_at), bound_at(keyed_by_id, end_at));
  return true;
end
$$;

do $$
begin
  execute format('alter function move_strays set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function adopt_strays from public;
