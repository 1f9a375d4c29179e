-- Turns deliveries that were cancelled during an attempt into delivered ones, because the receivers have acknowledged them. Returns
-- the attempts. The service cannot change the state of a finished delivery in any other way.
create function record_late_successes(
  attempt_ids uuid[], delivery_ids uuid[], lease_ids uuid[], http_statuses int[], durations_ms int[], begun_at timestamptz[],
  cancelled_since timestamptz
) returns setof uuid
language sql security definer as $$
  update finished_deliveries f
     set state = 'delivered', attempts = f.attempts + 1, lease_id = null,
         finished_at = e.begun_at + e.duration_ms * interval '1 millisecond',
         success_id = e.id, success_http_status = e.http_status, success_duration_ms = e.duration_ms
    from unnest(attempt_ids, delivery_ids, lease_ids, http_statuses, durations_ms, begun_at)
         as e (id, delivery_id, lease_id, http_status, duration_ms, begun_at)
   where f.id = e.delivery_id and f.lease_id = e.lease_id and f.state = 'cancelled' and f.finished_at >= cancelled_since
  returning f.success_id
$$;

do $$
begin
  execute format('alter function record_late_successes set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function record_late_successes from public;
