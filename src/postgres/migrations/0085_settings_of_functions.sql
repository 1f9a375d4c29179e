-- An owner also calls these functions from a session of its own, for example in psql. They write times and names as text.
alter function create_partitions
  set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC'
  set quote_all_identifiers = off set default_table_access_method = heap;
alter function drop_expired_partitions
  set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC'
  set quote_all_identifiers = off set default_table_access_method = heap;
alter function detach_expired_partition
  set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC'
  set quote_all_identifiers = off set default_table_access_method = heap;
alter function drop_exported_partition
  set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC'
  set quote_all_identifiers = off set default_table_access_method = heap;
alter function drop_rolled_up_minutes
  set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC'
  set quote_all_identifiers = off set default_table_access_method = heap;
alter function move_strays
  set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC'
  set quote_all_identifiers = off set default_table_access_method = heap;
alter function permit_export
  set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC'
  set quote_all_identifiers = off set default_table_access_method = heap;
