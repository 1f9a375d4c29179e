-- What happened, and which kinds of it there are.

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

-- What happened, once. Ids are UUIDv7, so partitions by id are partitions by time. Their last four digits are zero: there the
-- event's deliveries count. As in finished_deliveries, there are at most eight columns. Those of a fixed width come first, so that
-- no gap aligns them.
create table events (
  id                  uuid        not null,
  -- Null if it occurred when it was published, which the id says.
  occurred_at         timestamptz,
  -- Four bytes in place of the sixteen of its id.
  organization_number integer     not null,
  type                text        not null check (length(type) <= 100),
  data                text        not null check (length(data) <= 262144),
  -- The request that published the event: null of one that the SQL function or the service itself published.
  request_id          uuid,
  -- The same if the client named its request, and not by a UUID.
  request_name        text        check (length(request_name) <= 64),
  -- The span that published an event: its attempts belong to the same trace. Null unless the process traced the request.
  traceparent         text        check (length(traceparent) <= 55),

  primary key (id)
) partition by range (id);

-- ANALYZE keeps samples of columns. No query asks for an event by its data, and an erased payload must be nowhere.
alter table events alter column data set statistics 0;

-- When a type was last published. The service's own events, most of them test events, need no entry.
create index events_by_type on events (type, id) where type not like 'vc.%';

-- Where rows go for which no partition was made in time: late is better than lost.
create table events_default partition of events default;
alter table events_default alter column data set statistics 0;

-- The event that a dedupe key stands for. A unique index over partitions by time cannot hold a key for 24 hours, so keys
-- have a table of their own: a row that is older is taken over in place.
create table dedupe_keys (
  organization_id uuid        not null,
  key             text        not null check (length(key) between 1 and 255),
  event_id        uuid        not null,
  at              timestamptz not null,

  primary key (organization_id, key)
) with (fillfactor = 90);

create index dedupe_keys_by_age on dedupe_keys (at);

-- Erases what an event says, and returns whether there is such an event. The service cannot change an event in any other way.
create function erase_payload(event uuid) returns boolean
language plpgsql security definer as $$
begin
  update events set data = '{}' where id = event;
  return found;
end
$$;

do $$
begin
  execute format('alter function erase_payload set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function is_event_type, erase_payload from public;
