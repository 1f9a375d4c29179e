create table organizations (
  id                    uuid        primary key,
  slug                  text        not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  rate_limit_per_minute integer     not null check (rate_limit_per_minute between 1 and 1000000),
  created_at            timestamptz not null
);

-- Rows are never deleted, so that a revoked key id cannot be issued again.
create table api_keys (
  key_id          text        primary key check (key_id ~ '^[0-9a-z]{20}$'),
  organization_id uuid        not null references organizations,
  secret_hash     bytea       not null check (length(secret_hash) = 32),
  scopes          text[]      not null check (scopes @> '{identity:read}' and length(array_to_string(scopes, ',')) <= 2000),
  label           text        check (length(label) <= 200),
  created_at      timestamptz not null,
  last_used_at    timestamptz,
  revoked_at      timestamptz
);

create index api_keys_of_organization on api_keys (organization_id, created_at desc, key_id desc);
create index api_keys_by_age on api_keys (created_at desc, key_id desc);

create table subscriptions (
  id                   uuid        primary key,
  organization_id      uuid        not null references organizations,
  url                  text        not null check (length(url) <= 2048),
  events               text[]      not null check (cardinality(events) > 0 and length(array_to_string(events, ',')) <= 2000),
  sealed_secret        bytea       check (length(sealed_secret) <= 512),
  consecutive_failures integer     not null default 0 check (consecutive_failures >= 0),
  created_at           timestamptz not null,
  auto_disabled_at     timestamptz,
  deleted_at           timestamptz,

  -- A deleted subscription keeps its history and loses its secret.
  check ((deleted_at is null) = (sealed_secret is not null))
) with (fillfactor = 80);

create index subscriptions_of_organization on subscriptions (organization_id, created_at desc, id desc)
  where deleted_at is null;
create index subscriptions_ever_of_organization on subscriptions (organization_id);
create index subscriptions_by_age on subscriptions (created_at desc, id desc) where deleted_at is null;
create index subscriptions_gone on subscriptions (deleted_at) where deleted_at is not null;

-- What happened, once. Ids are UUIDv7, so a range of ids is a range of time.
create table events (
  id              uuid        primary key,
  organization_id uuid        not null,
  type            text        not null check (length(type) <= 100),
  occurred_at     timestamptz not null,
  data            text        not null check (length(data) <= 262144)
) partition by range (id);

-- The queue: only what still has to be done. A claim changes no column that an index holds, so it writes to no index.
-- No foreign keys: each would lock a parent row at every insert, and a subscription's row outlives its deliveries.
create table waiting_deliveries (
  id              uuid        primary key,
  event_id        uuid        not null,
  subscription_id uuid        not null,
  organization_id uuid        not null,
  created_at      timestamptz not null,
  due_at          timestamptz not null,
  lease_id        uuid,
  leased_until    timestamptz,
  attempts        smallint    not null default 0 check (attempts >= 0),
  lost_leases     smallint    not null default 0 check (lost_leases >= 0),
  last_reason     text        check (length(last_reason) <= 40),

  check ((lease_id is null) = (leased_until is null))
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

create index waiting_deliveries_due on waiting_deliveries (due_at);
create index waiting_deliveries_due_of_subscription on waiting_deliveries (subscription_id, due_at);

create table finished_deliveries (
  id              uuid        not null,
  event_id        uuid        not null,
  subscription_id uuid        not null,
  organization_id uuid        not null,
  created_at      timestamptz not null,
  finished_at     timestamptz not null,
  state           text        not null check (state in ('delivered', 'dead_lettered', 'cancelled')),
  attempts        smallint    not null check (attempts >= 0),
  last_reason     text        check (length(last_reason) <= 40),

  -- The attempt that delivered it. It needs no row of its own: nearly every delivery has this one alone.
  success_id          uuid,
  success_http_status smallint check (success_http_status between 200 and 299),
  success_duration_ms integer  check (success_duration_ms >= 0),

  -- The lease under which an attempt was under way when the delivery was cancelled.
  lease_id        uuid        check (lease_id is null or state = 'cancelled'),

  primary key (id, finished_at),
  check (num_nonnulls(success_id, success_http_status, success_duration_ms) = case state when 'delivered' then 3 else 0 end)
) partition by range (finished_at);

create index finished_deliveries_of_event on finished_deliveries (event_id);
create index finished_deliveries_of_subscription on finished_deliveries (subscription_id, id desc);
create index finished_deliveries_in_trouble_of_subscription
  on finished_deliveries (subscription_id, state, id desc) where state <> 'delivered';
create index finished_deliveries_in_trouble on finished_deliveries (state, id desc) where state <> 'delivered';
create index finished_deliveries_of_reason on finished_deliveries (last_reason, id desc) where last_reason is not null;

-- One row for each attempt that came to an outcome, except those that delivered. The id carries the time of the start.
create table attempts (
  id              uuid        not null,
  delivery_id     uuid        not null,
  subscription_id uuid        not null,
  event_id        uuid        not null,
  event_type      text        not null check (length(event_type) <= 100),
  attempt         smallint    not null check (attempt > 0),
  http_status     smallint    not null check (http_status between 0 and 999),
  reason          text        check (length(reason) <= 40),
  dead_lettered   boolean     not null,
  duration_ms     integer     not null check (duration_ms >= 0),
  attempted_at    timestamptz not null,
  next_attempt_at timestamptz,

  primary key (delivery_id, id),
  check (not dead_lettered or (reason is not null and next_attempt_at is null))
) partition by range (id);

create index failures_of_subscription on attempts (subscription_id, id desc) where reason is not null;

-- Where rows go for which nobody made a partition in time: late is better than lost.
create table events_default partition of events default;
create table finished_deliveries_default partition of finished_deliveries default;
create table attempts_default partition of attempts default;

-- Not logged: a window is worth nothing after a crash, and its update must not wait for a disk.
create unlogged table rate_windows (
  organization_id uuid        primary key,
  opened_at       timestamptz not null,
  used            integer     not null check (used >= 0)
) with (fillfactor = 50);

-- What only the schema's owner may decide.
create table settings (
  name  text primary key,
  value text not null
);
