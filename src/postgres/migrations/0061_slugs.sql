-- In the home shard: the slugs of organizations in all shards, except those of organizations from before there were several.
create table slugs (
  slug  text primary key check (slug ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  shard text not null check (shard ~ '^[0-9a-z]{2}$')
);
