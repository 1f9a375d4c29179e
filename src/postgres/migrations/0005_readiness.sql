-- One row that a service writes to find out whether the database commits.
create table readiness (
  one boolean primary key default true check (one),
  writes bigint not null
);

insert into readiness (writes) values (0);
