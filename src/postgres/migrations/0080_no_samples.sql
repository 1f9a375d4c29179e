-- ANALYZE keeps samples of columns. No query asks for an event by its data, and an erased payload must be nowhere.
alter table events alter column data set statistics 0;

-- As before. A new partition does not take the setting over from its parent.
create or replace function create_partition(relation regclass, keyed_by_id boolean, since timestamptz, until timestamptz)
returns void language plpgsql as $$
begin
  execute format('create table %I partition of %s for values from (%L) to (%L)',
    partition_name(relation, since), relation, bound_at(keyed_by_id, since), bound_at(keyed_by_id, until));
  if relation = 'events'::regclass then
    execute format('alter table %I alter column data set statistics 0', partition_name(relation, since));
  end if;
exception
  when check_violation then raise warning 'strays of % keep the partition of % from being made: move them first', relation, since;
end
$$;
