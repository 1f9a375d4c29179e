-- A database belongs to one cell, whose name the start writes. Until now it was the name of a shard, which the previous release reads.
insert into settings (name, value)
select 'cell', value from settings where name = 'shard';
