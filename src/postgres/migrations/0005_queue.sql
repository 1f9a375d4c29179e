-- Deliveries that still have to be made, and the way into the queue for a service on the same database.

-- The id of a delivery is that of its event, with a number from 1 in the last four digits. A redelivery has an id of its own, whose
-- last four digits are zero; its mark says the event: see redelivery_marks.
create function event_of(delivery uuid) returns uuid
language sql immutable as $$
  select (left(delivery::text, 32) || '0000')::uuid
$$;

create function delivery_of(event uuid, number bigint) returns uuid
language sql immutable as $$
  select (left(event::text, 32) || lpad(to_hex(number), 4, '0'))::uuid
$$;

create function is_redelivery(delivery uuid) returns boolean
language sql immutable as $$
  select right(delivery::text, 4) = '0000'
$$;

-- A claim changes no column that an index holds, so it writes to no index if the new row has room on the page of the old one: pages are
-- filled to 45 %, because all rows of a page are often claimed at once, and a lease makes each a fifth longer.
-- Rows come and go all the time, so vacuum runs early, unhindered, and whatever the table's size.
-- No foreign keys: each would lock a parent row at every insert, and a subscription's row outlives its deliveries.
create table waiting_deliveries (
  id              uuid        primary key,
  event_id        uuid        not null,
  subscription_id uuid        not null,
  organization_id uuid        not null,
  due_at          timestamptz not null,
  lease_id        uuid,
  leased_until    timestamptz,
  attempts        smallint    not null default 0 check (attempts >= 0),
  lost_leases     smallint    not null default 0 check (lost_leases >= 0),
  last_reason     text        check (length(last_reason) <= 40),

  check ((lease_id is null) = (leased_until is null))
) with (
  fillfactor = 45,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

-- Whether anything is due, and since when.
create index waiting_deliveries_due on waiting_deliveries (due_at);
-- What is due of one subscription. A scan skips through it from one subscription to the next.
create index waiting_deliveries_due_of_subscription on waiting_deliveries (subscription_id, due_at);
-- The event of a redelivery. Of any other delivery, the id says it.
create index waiting_deliveries_of_event on waiting_deliveries (event_id) where is_redelivery(id);

-- A delivery that was sent again, the delivery that did it, and their event. Ids are UUIDv7: the newest is the latest.
create table redelivery_marks (
  redelivery_id uuid primary key,
  delivery_id   uuid not null,
  event_id      uuid not null,
  job_id        uuid
);

create index redelivery_marks_of_delivery on redelivery_marks (delivery_id, redelivery_id desc);
create index redelivery_marks_of_event on redelivery_marks (event_id);

-- Whether a double keeps each number: what JavaScript writes of it is the same decimal number.
create function keeps_numbers(data jsonb) returns boolean
language sql immutable set extra_float_digits = 1 as $$
  select not exists (
    select
      from jsonb_path_query(data, 'strict $.** ? (@.type() == "number")') as number (value)
     where case
             when value::numeric = 0 then false
             when abs(value::numeric) not between 5e-324 and 9007199254740991 then true
             else value::numeric <> value::text::float8::text::numeric
           end)
$$;

-- JSON without the spaces that PostgreSQL writes between values. E'' means the same under every standard_conforming_strings.
create function without_spaces(written text) returns text
language sql immutable as $$
  select regexp_replace(written, E'("(?:[^"\\\\]|\\\\.)*")| ', E'\\1', 'g')
$$;

-- Publishes an event in the caller's transaction, and returns its id; of a duplicate, the first event's. It refuses what HTTP
-- refuses, except that it knows no schemas of types. It waits while another transaction holds the dedupe key. It notifies
-- nobody: the service finds the deliveries by its poll.
create function partner_api_publish(
  organization text,
  type         text,
  data         jsonb,
  dedupe_key   text        default null,
  occurred_at  timestamptz default now()
) returns uuid
language plpgsql security definer as $$
#variable_conflict use_column
declare
  p_organization constant text        := partner_api_publish.organization;
  p_type         constant text        := partner_api_publish.type;
  p_data         text                 := partner_api_publish.data::text;
  p_key          constant text        := partner_api_publish.dedupe_key;
  moment         constant timestamptz := clock_timestamp();
  p_occurred_at  constant timestamptz := coalesce(partner_api_publish.occurred_at, moment);
  micros         constant bigint      := floor(extract(epoch from moment) * 1000000);
  -- A UUIDv7: milliseconds, the rest of the time in 12 bits, random bits, and four zeros for the numbers of the deliveries.
  new_id         constant uuid        := (lpad(to_hex(micros / 1000), 12, '0')
                                          || '7' || lpad(to_hex((micros % 1000) * 4096 / 1000), 3, '0')
                                          || substr(replace(gen_random_uuid()::text, '-', ''), 17, 12) || '0000')::uuid;
  p_organization_id     uuid;
  p_organization_number integer;
  taken_by              uuid;
begin
  select o.id, o.number into p_organization_id, p_organization_number
    from organizations o
   where o.closed_at is null
     and (o.slug = p_organization
          or o.id = substring(p_organization from '^org_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$')::uuid);
  if p_organization_id is null then
    raise exception 'organization must be the id or the slug of an organization' using errcode = 'invalid_parameter_value';
  end if;
  if p_type like 'vc.%' or not coalesce(is_event_type(p_type), false) then
    raise exception 'type must be a known event type'
      using errcode = 'invalid_parameter_value', hint = 'EVENT_TYPES of the service names the folder of types.';
  end if;
  if p_data is null or jsonb_typeof(partner_api_publish.data) <> 'object' then
    raise exception 'data must be an object' using errcode = 'invalid_parameter_value';
  end if;
  if strpos(p_data, '{"__proto__":') > 0 or strpos(p_data, ' "__proto__":') > 0 then
    raise exception 'data must not have a member named __proto__' using errcode = 'invalid_parameter_value';
  end if;
  -- At most a third of it are spaces, which do not count.
  if octet_length(p_data) between 262145 and 393216 then
    p_data := without_spaces(p_data);
  end if;
  if octet_length(p_data) > 262144 then
    raise exception 'data must be at most 256 KiB as JSON' using errcode = 'invalid_parameter_value';
  end if;
  if length(p_data) - length(translate(p_data, '{[', '')) > 100
     and jsonb_path_exists(partner_api_publish.data, 'strict $.**{100} ? (@.type() == "object" || @.type() == "array")') then
    raise exception 'data must not nest deeper than 100 levels' using errcode = 'invalid_parameter_value';
  end if;
  -- A shorter number has at most 15 digits, and a double keeps it.
  if p_data ~ '[0-9.]{16}' and not keeps_numbers(partner_api_publish.data) then
    raise exception 'data must hold only numbers from -(2^53 - 1) to 2^53 - 1 that a 64-bit float keeps exactly'
      using errcode = 'invalid_parameter_value', hint = 'Send at most 15 digits, or a string.';
  end if;
  if p_key !~ '^[!-~]{1,255}$' then
    raise exception 'dedupe_key must be 1 to 255 visible ASCII characters' using errcode = 'invalid_parameter_value';
  end if;
  if p_occurred_at > moment + interval '5 minutes' then
    raise exception 'occurred_at must be at most 5 minutes ahead' using errcode = 'invalid_parameter_value';
  end if;
  if p_occurred_at < moment - retention() then
    raise exception 'occurred_at must be no older than the retention' using errcode = 'invalid_parameter_value';
  end if;

  if p_key is not null then
    insert into dedupe_keys as k (organization_id, key, event_id, at)
    values (p_organization_id, p_key, new_id, moment)
        on conflict (organization_id, key) do update
       set event_id = case when k.at <= moment - interval '24 hours' then excluded.event_id else k.event_id end,
           at = case when k.at <= moment - interval '24 hours' then excluded.at else k.at end
    returning k.event_id into taken_by;
    if taken_by <> new_id then
      return taken_by;
    end if;
  end if;

  insert into events (id, occurred_at, organization_number, type, data)
  values (new_id, p_occurred_at, p_organization_number, p_type, p_data);

  insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
  select delivery_of(new_id, row_number() over ()), new_id, s.id, s.organization_id, moment
    from subscriptions s
   where s.organization_id = p_organization_id and p_type = any(s.events)
     and s.deleted_at is null and s.auto_disabled_at is null;
  return new_id;
end
$$;

do $$
begin
  execute format('alter function partner_api_publish set search_path = %I, pg_temp', current_schema());
end
$$;

-- Only the role partner_api_publisher may call it: see publisher-role.ts.
revoke execute on function keeps_numbers, without_spaces, partner_api_publish from public;
