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
create index kept_answers_of_subscription on kept_answers (subscription_id);
