-- A token bucket for each subscription whose attempts an operator limits. It holds `burst` tokens, and `max_per_second` come
-- in each second. `full_at` is when the bucket is full again: it says how many tokens there are at any moment.
create table subscription_ceilings (
  subscription_id uuid        primary key references subscriptions on delete cascade,
  max_per_second  integer     not null check (max_per_second between 1 and 10000),
  burst           integer     not null check (burst between 1 and max_per_second),
  full_at         timestamptz not null
) with (fillfactor = 50);
