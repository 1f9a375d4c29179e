-- What operators do.

-- Sessions of operators that signed out before their session ended. A session is a signed cookie, so no other one is stored.
create table ended_sessions (
  nonce   uuid        primary key,
  ends_at timestamptz not null
);

create index ended_sessions_by_end on ended_sessions (ends_at);

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

-- The list's filters, newest first.
create index operator_changes_of_operator on operator_changes (operator, id desc);
create index operator_changes_of_action on operator_changes (action, id desc);
create index operator_changes_of_subject on operator_changes (subject, id desc);

-- Why operators cancelled deliveries. A row stays as long as its delivery.
create table cancel_reasons (
  delivery_id  uuid        primary key,
  reason       text        not null check (length(reason) between 1 and 200),
  cancelled_at timestamptz not null
);

create index cancel_reasons_by_age on cancel_reasons (cancelled_at);

-- Jobs that send many finished deliveries again, or attempt or cancel many that wait.
create table redelivery_jobs (
  id                 uuid        primary key,
  state              text        not null check (state in ('queued', 'running', 'paused', 'cancelled', 'finished')),
  created_by         text        not null check (length(created_by) <= 200),
  created_at         timestamptz not null,
  finished_at        timestamptz,

  -- Which deliveries: see RedeliveryFilter.
  organization_id    uuid        not null,
  subscription_id    uuid,
  delivery_state     text        check (delivery_state in ('dead_lettered', 'cancelled', 'delivered')),
  reason             text        check (length(reason) <= 40),
  event_id           uuid,
  event_type         text        check (length(event_type) <= 100),
  since              timestamptz,
  until              timestamptz,

  -- What becomes of them. Those that wait have no state to choose, and are passed by their ids alone.
  action             text        not null default 'redeliver' check (action in ('redeliver', 'attempt_now', 'cancel')),
  cancel_reason      text,
  to_subscription_id uuid,
  rate_per_second    integer     not null check (rate_per_second between 1 and 1000),

  total              integer     not null check (total >= 0),
  done               integer     not null default 0 check (done >= 0),
  skipped            integer     not null default 0 check (skipped >= 0),
  failed             integer     not null default 0 check (failed >= 0),

  -- The transactions that may have been recording outcomes when a job was created: see listWriters. The job waits for their end.
  open_writers       text[]      not null default '{}'
                                 check (cardinality(open_writers) <= 1000 and length(array_to_string(open_writers, ',')) <= 40000),

  -- The place that the job has come to, and when it may go on.
  at_subscription    uuid,
  at_state           text        check (at_state in ('dead_lettered', 'cancelled', 'delivered')),
  at_delivery        uuid,
  next_at            timestamptz not null,
  written_at         timestamptz,

  check ((finished_at is not null) = (state in ('cancelled', 'finished'))),
  check (length(cancel_reason) between 1 and 200 and action = 'cancel' or cancel_reason is null and action <> 'cancel')
);

create index redelivery_jobs_unfinished on redelivery_jobs (id) where finished_at is null;

-- Each of these deletes a part of what is older than the retention, and returns how much that is: call it again until it is nothing.

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

create function delete_expired_jobs(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  deleted integer;
begin
  delete from redelivery_jobs
   where id in (select id from redelivery_jobs where finished_at < horizon_at(moment) order by id limit 1000);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

-- A delivery expires with its partition.
create function delete_expired_reasons(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  deleted integer;
begin
  delete from cancel_reasons
   where delivery_id in (
     select delivery_id from cancel_reasons
      where cancelled_at < horizon_at(moment) - 2 * partition_width()
      order by cancelled_at
      limit 5000);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

do $$
begin
  execute format('alter function delete_expired_changes set search_path = %I, pg_temp', current_schema());
  execute format('alter function delete_expired_reasons set search_path = %I, pg_temp', current_schema());
  execute format('alter function delete_expired_jobs set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function delete_expired_changes, delete_expired_reasons, delete_expired_jobs from public;
