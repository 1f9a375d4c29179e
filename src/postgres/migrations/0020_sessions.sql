-- Sessions of operators that signed out before their session ended. A session is a signed cookie, so no other one is stored.
create table ended_sessions (
  nonce   uuid        primary key,
  ends_at timestamptz not null
);

create index ended_sessions_by_end on ended_sessions (ends_at);
