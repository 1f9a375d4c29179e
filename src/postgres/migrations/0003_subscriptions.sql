-- URLs that want events.

-- A deleted subscription stays as long as its history. A fifth of each page stays free for the failure counter.
create table subscriptions (
  id                   uuid        primary key,
  organization_id      uuid        not null references organizations,
  url                  text        not null check (length(url) <= 2048),
  -- The host of the URL, as it is looked up.
  host                 text        check (length(host) <= 255),
  events               text[]      not null check (cardinality(events) > 0 and length(array_to_string(events, ',')) <= 2000),
  sealed_secret        bytea       check (length(sealed_secret) <= 512),
  consecutive_failures integer     not null default 0 check (consecutive_failures >= 0),
  created_at           timestamptz not null,
  auto_disabled_at     timestamptz,
  deleted_at           timestamptz,

  -- A deleted subscription keeps its history and loses its secret.
  check ((deleted_at is null) = (sealed_secret is not null))
) with (fillfactor = 80);

-- Lists, newest first: of one organization, which is also where an event finds its receivers, and of all.
create index subscriptions_of_organization on subscriptions (organization_id, created_at desc, id desc)
  where deleted_at is null;
create index subscriptions_by_age on subscriptions (created_at desc, id desc) where deleted_at is null;
-- Searches of the history, which take deleted subscriptions along: those of an organization in a fixed order, and those of a host.
create index subscriptions_in_order_of_organization on subscriptions (organization_id, id);
create index subscriptions_of_host on subscriptions (host text_pattern_ops, id);
-- Deleted ones, to remove them after the retention.
create index subscriptions_gone on subscriptions (deleted_at) where deleted_at is not null;

-- A token bucket for each subscription whose attempts an operator limits. It holds `burst` tokens, and `max_per_second` come
-- in each second. `full_at` is when the bucket is full again: it says how many tokens there are at any moment.
create table subscription_ceilings (
  subscription_id uuid        primary key references subscriptions on delete cascade,
  max_per_second  integer     not null check (max_per_second between 1 and 10000),
  burst           integer     not null check (burst between 1 and max_per_second),
  full_at         timestamptz not null
) with (fillfactor = 50);

-- Answers to requests with an Idempotency-Key. A row that is older than 24 hours is taken over in place.
create table kept_answers (
  organization_id uuid        not null,
  route           text        not null check (route in ('createSubscription', 'sendTestEvent')),
  key             text        not null check (length(key) between 1 and 255),
  request_hash    bytea       not null check (length(request_hash) = 32),
  subscription_id uuid        not null,
  at              timestamptz not null,

  -- Null once the subscription is deleted.
  sealed_answer   bytea       check (length(sealed_answer) <= 16384),

  primary key (organization_id, route, key)
);

create index kept_answers_by_age on kept_answers (at);
-- Only these answers are erased with a subscription. An organization may keep hundreds of thousands of others.
create index kept_answers_with_secrets on kept_answers (organization_id, subscription_id)
 where route = 'createSubscription' and sealed_answer is not null;
