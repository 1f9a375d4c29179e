-- What operators do with deliveries that wait: hold those of a subscription, attempt them now, cancel them.

-- A held subscription has no tokens. One without a ceiling has a row only while it is held.
alter table subscription_ceilings
  add column held_at timestamptz,
  alter column max_per_second drop not null,
  alter column burst drop not null,
  add constraint subscription_ceilings_bucket check ((max_per_second is null) = (burst is null)) not valid,
  add constraint subscription_ceilings_use check (max_per_second is not null or held_at is not null) not valid;

-- What a job does with the deliveries. Those that wait have no state to choose, and are passed by their ids alone.
alter table redelivery_jobs
  add column action text not null default 'redeliver',
  add column cancel_reason text,
  add constraint redelivery_jobs_action check (action in ('redeliver', 'attempt_now', 'cancel')) not valid,
  add constraint redelivery_jobs_cancel_reason
    check (length(cancel_reason) between 1 and 200 and action = 'cancel' or cancel_reason is null and action <> 'cancel') not valid;

-- Why operators cancelled deliveries. A row stays as long as its delivery.
create table cancel_reasons (
  delivery_id  uuid        primary key,
  reason       text        not null check (length(reason) between 1 and 200),
  cancelled_at timestamptz not null
);

create index cancel_reasons_by_age on cancel_reasons (cancelled_at);

-- Deletes reasons of deliveries that have expired, and returns how many. A delivery expires with its partition.
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
  execute format('alter function delete_expired_reasons set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function delete_expired_reasons from public;
