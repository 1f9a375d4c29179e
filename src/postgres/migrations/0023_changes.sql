-- The changes of operators, and the reads of payloads. Ids are UUIDv7.
create table operator_changes (
  id         uuid primary key,
  operator   text not null check (length(operator) <= 200),
  action     text not null check (length(action) <= 100),
  subject    text not null check (length(subject) <= 200),
  via        text not null check (via in ('api', 'console', 'command_line')),
  remote     text not null check (length(remote) <= 100),
  request_id text not null check (length(request_id) <= 64)
);

create index operator_changes_of_operator on operator_changes (operator, id desc);
create index operator_changes_of_action on operator_changes (action, id desc);
create index operator_changes_of_subject on operator_changes (subject, id desc);

-- Deletes what is older than the retention, and returns how much that is: call it again until it is nothing.
create function delete_expired_changes(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  deleted integer;
begin
  delete from operator_changes
   where id in (select id from operator_changes where id < first_id_at(horizon_at(moment)) order by id limit 5000);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

do $$
begin
  execute format('alter function delete_expired_changes set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function delete_expired_changes from public;
