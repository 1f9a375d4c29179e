-- A schema belongs to one shard, whose name the start writes. A schema with data from before is the first shard.
insert into settings (name, value)
select 'shard', '00' where exists (select from organizations);
