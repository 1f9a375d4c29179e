-- The platform's event types. One that no node announces any more is retired: subscriptions that list it keep it, and
-- nobody can publish it.
create table event_types (
  name       text        primary key check (length(name) <= 100 and name ~ '^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$'),
  added_at   timestamptz not null,
  retired_at timestamptz
);

-- What each node announces, and when it did so last. A node that ended leaves its row until another one starts or runs,
-- so that the types stay known while no node runs.
create table event_type_nodes (
  id       uuid        primary key,
  names    text[]      not null check (length(array_to_string(names, ',')) <= 101000),
  seen_at  timestamptz not null,
  ended_at timestamptz
);

-- Whether a platform's event of this type can be published.
create function is_event_type(wanted text) returns boolean
language sql stable as $$
  select exists (select from event_types t where t.name = wanted and t.retired_at is null)
$$;

revoke execute on function is_event_type from public;
