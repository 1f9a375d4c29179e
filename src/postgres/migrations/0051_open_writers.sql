-- The transactions that may have been recording outcomes when a job was created: see listWriters. The job waits for their end.
alter table redelivery_jobs
  add column open_writers text[] not null default '{}'
  check (cardinality(open_writers) <= 1000 and length(array_to_string(open_writers, ',')) <= 40000);
