-- What a service knows of itself, and what ids say.

-- Only the schema's owner writes here: how long history is kept (`retention`), and the name of the cell (`cell`).
create table settings (
  name  text primary key,
  value text not null
);

-- Null before the first start has stored it.
create function retention() returns interval
language sql stable as $$
  select value::interval from settings where name = 'retention'
$$;

-- One row that a service writes to find out whether the database commits.
create table readiness (
  one    boolean primary key default true check (one),
  writes bigint  not null
);

insert into readiness (writes) values (0);

-- The processes of the service, as each one reports itself. The fillfactor leaves room for the next report on the same page.
create table processes (
  id                 uuid        primary key,
  role               text        not null check (role in ('all', 'api', 'dispatcher')),
  version            text        not null check (length(version) <= 100),
  host               text        not null check (length(host) <= 255),
  pid                integer     not null,
  started_at         timestamptz not null,
  last_seen_at       timestamptz not null,
  is_stopping        boolean     not null,
  -- Null unless the process said that it ends.
  ended_at           timestamptz,
  last_recorded_at   timestamptz,
  attempts_under_way integer     not null check (attempts_under_way >= 0),
  -- How many attempts it makes at once at most. Null if it delivers nothing.
  slots              integer     check (slots > 0),
  organizations      jsonb       not null check (pg_column_size(organizations) <= 4096),
  slowed             jsonb       not null check (pg_column_size(slowed) <= 16384),
  problems           jsonb       not null check (pg_column_size(problems) <= 16384)
) with (fillfactor = 50);

-- The bridges that publish into the service, as each one reports itself.
create table bridges (
  id           uuid        primary key,
  version      text        not null check (length(version) <= 100),
  host         text        not null check (length(host) <= 255),
  pid          integer     not null,
  started_at   timestamptz not null,
  last_seen_at timestamptz not null,
  sources      jsonb       not null check (pg_column_size(sources) <= 65536)
) with (fillfactor = 50);

-- Ids of what happens are UUIDv7: they begin with their millisecond. So they sort by time, and a range of ids is a range of time.

-- The smallest UUIDv7 of a moment.
create function first_id_at(moment timestamptz) returns uuid
language sql immutable as $$
  select (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0')
          || '00000000000000000000')::uuid
$$;

-- The six bytes of a UUIDv7 that carry its millisecond. They sort as the ids do, and make an index on them half as wide.
create function time_of(id uuid) returns bytea
language sql immutable as $$
  select substring(uuid_send(id) for 6)
$$;

-- The second that it carries, in four bytes, until the year 2106. Ids of one second share an entry of an index, because PostgreSQL
-- stores equal keys once.
create function second_of(id uuid) returns integer
language sql immutable as $$
  select (('x' || encode(substring(uuid_send(id) for 6), 'hex'))::bit(48)::bigint / 1000 % 4294967296 - 2147483648)::integer
$$;

-- The moment that a UUIDv7 carries.
create function moment_of(id uuid) returns timestamptz
language sql immutable as $$
  select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;
