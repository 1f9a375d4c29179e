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

revoke execute on function keeps_numbers from public;

-- As before, except that it refuses the numbers that HTTP refuses.
create or replace function partner_api_publish(
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
  p_data         constant text        := partner_api_publish.data::text;
  p_key          constant text        := partner_api_publish.dedupe_key;
  moment         constant timestamptz := clock_timestamp();
  p_occurred_at  constant timestamptz := coalesce(partner_api_publish.occurred_at, moment);
  micros         constant bigint      := floor(extract(epoch from moment) * 1000000);
  -- A UUIDv7: milliseconds, the rest of the time in 12 bits, and random bits.
  new_id         constant uuid        := (lpad(to_hex(micros / 1000), 12, '0')
                                          || '7' || lpad(to_hex((micros % 1000) * 4096 / 1000), 3, '0')
                                          || substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid;
  p_organization_id uuid;
  taken_by          uuid;
begin
  select o.id into p_organization_id
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

  insert into events (id, organization_id, type, occurred_at, data)
  values (new_id, p_organization_id, p_type, p_occurred_at, p_data);

  insert into waiting_deliveries (id, event_id, subscription_id, organization_id, created_at, due_at)
  select encode(overlay(uuid_send(gen_random_uuid()) placing substring(uuid_send(new_id) for 8) from 1), 'hex')::uuid,
         new_id, s.id, s.organization_id, moment, moment
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
