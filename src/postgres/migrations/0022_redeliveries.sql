-- Jobs that send many finished deliveries again.
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

  to_subscription_id uuid,
  rate_per_second    integer     not null check (rate_per_second between 1 and 1000),

  total              integer     not null check (total >= 0),
  done               integer     not null default 0 check (done >= 0),
  skipped            integer     not null default 0 check (skipped >= 0),
  failed             integer     not null default 0 check (failed >= 0),

  -- The place that the job has come to, and when it may go on.
  at_subscription    uuid,
  at_state           text        check (at_state in ('dead_lettered', 'cancelled', 'delivered')),
  at_delivery        uuid,
  next_at            timestamptz not null,
  written_at         timestamptz,

  check ((finished_at is not null) = (state in ('cancelled', 'finished')))
);

create index redelivery_jobs_unfinished on redelivery_jobs (id) where finished_at is null;

-- Deletes jobs that were finished before the retention, and returns how many: call it again until it is none.
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

do $$
begin
  execute format('alter function delete_expired_jobs set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function delete_expired_jobs from public;
