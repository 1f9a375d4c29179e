-- A success that arrives late takes its delivery back from the cancelled ones, maybe in another minute than the one that counted it.
alter table activity_minutes drop constraint activity_minutes_cancelled_check;
alter table activity_hours drop constraint activity_minutes_cancelled_check;
