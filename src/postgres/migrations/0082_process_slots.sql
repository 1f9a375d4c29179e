-- How many attempts a process makes at once at most. Null if it delivers nothing, or is of a release before this column.
alter table processes add column slots integer;
alter table processes add constraint processes_slots_check check (slots > 0) not valid;
