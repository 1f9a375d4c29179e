-- The columns that operators search by, and the deliveries that they sent again.

-- The request that published the event: null of one that the SQL function or the service itself published.
alter table events add column request_id text check (length(request_id) <= 64);

-- The host of the URL, as it is looked up. Null of a subscription that was made before; see the update below.
alter table subscriptions add column host text check (length(host) <= 255);
update subscriptions set host = lower(substring(url from '^https://(?:\[([^]]*)\]|[^/:?#]*)')) where url ~* '^https://\[';
update subscriptions set host = lower(rtrim(substring(url from '(?i)^https://([^/:?#]*)'), '.')) where host is null;

-- Uses operators that find a prefix in any collation.
create index subscriptions_of_host on subscriptions (host text_pattern_ops, id);
create index organizations_by_slug on organizations (slug text_pattern_ops);
create index subscriptions_in_order_of_organization on subscriptions (organization_id, id);
drop index subscriptions_ever_of_organization;

create index finished_deliveries_of_reason_of_subscription
  on finished_deliveries (subscription_id, last_reason, id desc) where last_reason is not null;

-- A delivery that was sent again, and the delivery that did it. Ids are UUIDv7: the newest is the latest.
create table redelivery_marks (
  redelivery_id uuid primary key,
  delivery_id   uuid not null,
  job_id        uuid
);

create index redelivery_marks_of_delivery on redelivery_marks (delivery_id, redelivery_id desc);

-- Deletes marks that are older than the retention, and returns how many: call it again until it is none.
create function delete_expired_marks(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  deleted integer;
begin
  delete from redelivery_marks
   where redelivery_id in (
     select redelivery_id from redelivery_marks where redelivery_id < first_id_at(horizon_at(moment)) limit 5000);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

do $$
begin
  execute format('alter function delete_expired_marks set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function delete_expired_marks from public;
