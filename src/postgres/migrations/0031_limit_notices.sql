-- When the platform was last told that an organization has used up its rate limit. One row for each organization at most.
create table limit_notices (
  organization_id uuid        primary key references organizations,
  at              timestamptz not null
);
