-- Events of the platform: each is published once for its dedupe key.

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

-- When a type was last published. The service's own events, most of them test events, need no entry.
create index events_by_type on events (type, id) where type not like 'vc.%';
