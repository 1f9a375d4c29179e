-- Partners' accounts and their keys.

-- A closed organization keeps its row, so that its history has a name and its slug is never given again.
create table organizations (
  id                    uuid        primary key,
  slug                  text        not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  rate_limit_per_minute integer     not null check (rate_limit_per_minute between 1 and 1000000),
  created_at            timestamptz not null,
  closed_at             timestamptz
);

-- The list of organizations, and the search for the beginning of a slug. Its operators find a prefix in any collation.
create index organizations_by_slug on organizations (slug text_pattern_ops);

-- In the first cell: the slugs of the organizations of all cells.
create table slugs (
  slug  text primary key check (slug ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  cell text not null check (cell ~ '^[0-9a-z]{2}$')
);

-- Rows are never deleted, so that a revoked key id cannot be issued again.
create table api_keys (
  key_id          text        primary key check (key_id ~ '^[0-9a-z]{20}$'),
  organization_id uuid        not null references organizations,
  -- SHA-256. The secret has 256 bits of its own, so a slow hash would protect nothing.
  secret_hash     bytea       not null check (length(secret_hash) = 32),
  scopes          text[]      not null check (scopes @> '{identity:read}' and length(array_to_string(scopes, ',')) <= 2000),
  label           text        check (length(label) <= 200),
  created_at      timestamptz not null,
  last_used_at    timestamptz,
  revoked_at      timestamptz
);

-- Pages of keys, newest first: of one organization, and of all.
create index api_keys_of_organization on api_keys (organization_id, created_at desc, key_id desc);
create index api_keys_by_age on api_keys (created_at desc, key_id desc);

-- The requests of an organization in its present minute. Not logged: a window is worth nothing after a crash, and its update
-- must not wait for a disk. Half of each page stays free, so that an update stays on its page and changes no index.
create unlogged table rate_windows (
  organization_id uuid        primary key,
  opened_at       timestamptz not null,
  used            integer     not null check (used >= 0)
) with (fillfactor = 50);

-- When the platform was last told that an organization has used up its rate limit. One row for each organization at most.
create table limit_notices (
  organization_id uuid        primary key references organizations,
  at              timestamptz not null
);
