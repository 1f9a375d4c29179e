-- The rows behind the operators' charts. Each process writes its own rows, so none waits for another, and a row holds all
-- that its process has counted of it: to write it once more changes nothing.

create table activity_minutes (
  scope         uuid        not null,
  kind          text        not null check (kind in ('service', 'organization', 'subscription')),
  at            timestamptz not null,
  process_id    uuid        not null,
  published     integer     not null check (published >= 0),
  requests      integer     not null check (requests >= 0),
  rate_limited  integer     not null check (rate_limited between 0 and requests),
  succeeded     integer     not null check (succeeded >= 0),
  failed        integer     not null check (failed >= 0),
  duration_ms   bigint      not null check (duration_ms >= 0),
  delivered     integer     not null check (delivered >= 0),
  dead_lettered integer     not null check (dead_lettered >= 0),
  -- Below zero if a success arrived late: it takes its delivery back from the cancelled ones of an earlier minute.
  cancelled     integer     not null,
  disabled      integer     not null check (disabled >= 0),

  -- How often each reason, and each bucket of the two histograms, was counted.
  reasons       jsonb       not null check (pg_column_size(reasons) <= 16384),
  attempt_ms    jsonb       not null check (pg_column_size(attempt_ms) <= 16384),
  end_to_end_ms jsonb       not null check (pg_column_size(end_to_end_ms) <= 16384),

  primary key (scope, at, process_id)
) partition by range (at);

-- Of everybody, for the overview and for the roll-up.
create index activity_minutes_by_time on activity_minutes (at);

-- Minutes become hours after 48 hours.
create table activity_hours (like activity_minutes including all) partition by range (at);

create table activity_minutes_default partition of activity_minutes default;
create table activity_hours_default partition of activity_hours default;
