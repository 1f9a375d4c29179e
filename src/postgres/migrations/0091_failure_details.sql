-- What there is to add to the reason of a failed attempt, such as certificate_expired. Null for others.
alter table attempts add column detail text;
alter table attempts add constraint attempts_detail_check check (length(detail) <= 40) not valid;

create or replace view audit as
  select id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, dead_lettered,
         duration_ms, attempted_at, next_attempt_at, detail
    from attempts
  union all
  select success_id, id, subscription_id, event_id, (select type from events e where e.id = event_id limit 1), attempts,
         success_http_status, null, false, success_duration_ms, moment_of(success_id), null, null
    from finished_deliveries
   where state = 'delivered';
