-- Attempts are found by id at next to no cost for those who write them: both ids and times rise as rows come.
create index attempts_by_age on attempts using brin (id uuid_minmax_ops) with (pages_per_range = 16, autosummarize = on);
create index finished_deliveries_by_age on finished_deliveries using brin (finished_at)
  with (pages_per_range = 16, autosummarize = on);
