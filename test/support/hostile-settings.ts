/**
 * Settings that a database can carry, each at a value that would change what our statements mean, return or lock, or end their work.
 * Those that not every version has are marked with the first that has them.
 */
const HOSTILE: [name: string, value: string, since?: number][] = [
  ["datestyle", "German"],
  ["intervalstyle", "sql_standard"],
  ["timezone", "Pacific/Chatham"],
  ["timezone_abbreviations", "India"],
  ["default_transaction_isolation", "serializable"],
  ["default_transaction_read_only", "on"],
  ["default_transaction_deferrable", "on"],
  ["standard_conforming_strings", "off"],
  ["escape_string_warning", "on"],
  ["backslash_quote", "off"],
  ["bytea_output", "escape"],
  ["extra_float_digits", "-15"],
  ["array_nulls", "off"],
  ["transform_null_equals", "on"],
  ["quote_all_identifiers", "on"],
  ["exit_on_error", "on"],
  ["row_security", "off"],
  ["xmloption", "document"],
  ["xmlbinary", "hex"],
  ["check_function_bodies", "off"],
  ["client_min_messages", "debug5"],
  ["synchronous_commit", "off"],
  ["restrict_nonsystem_relation_kind", "view, foreign-table"],
  ["statement_timeout", "1s"],
  ["lock_timeout", "20ms"],
  ["idle_in_transaction_session_timeout", "20ms"],
  ["idle_session_timeout", "100ms"],
  ["transaction_timeout", "500ms", 17],
  ["client_connection_check_interval", "50ms"],
  ["lc_numeric", "C"],
  ["lc_monetary", "C"],
  ["lc_time", "C"],
  ["default_text_search_config", "pg_catalog.german"],
  ["default_tablespace", "pg_default"],
  ["default_table_access_method", "other"],
  ["default_toast_compression", "pglz"],
  ["stats_fetch_consistency", "snapshot"],
  ["plan_cache_mode", "force_custom_plan"],
  ["jit", "on"],
  ["jit_above_cost", "0"],
  ["enable_indexscan", "off"],
  ["enable_indexonlyscan", "off"],
  ["enable_bitmapscan", "off"],
  ["enable_nestloop", "off"],
  ["enable_hashjoin", "off"],
  ["enable_mergejoin", "off"],
  ["enable_hashagg", "off"],
  ["enable_sort", "off"],
  ["enable_material", "off"],
  ["enable_memoize", "off"],
  ["enable_partition_pruning", "off"],
  ["enable_partitionwise_join", "on"],
  ["enable_partitionwise_aggregate", "on"],
  ["join_collapse_limit", "1"],
  ["from_collapse_limit", "1"],
  ["geqo_threshold", "2"],
  ["constraint_exclusion", "on"],
  ["random_page_cost", "1000"],
  ["work_mem", "64kB"],
  ["debug_parallel_query", "regress", 16],
  ["parallel_setup_cost", "0"],
  ["min_parallel_table_scan_size", "0"],
  ["cursor_tuple_fraction", "1"],
  ["gin_fuzzy_search_limit", "1"],
  ["createrole_self_grant", "set, inherit", 16],
  ["password_encryption", "md5"],
  ["plpgsql.variable_conflict", "use_variable"],
  ["plpgsql.extra_errors", "shadowed_variables"],
  ["plpgsql.extra_warnings", "all"],
];

/** A second name of PostgreSQL's own way to store tables. */
const ACCESS_METHOD = "create access method other type table handler heap_tableam_handler";

/**
 * Returns the statements that give a database all hostile settings, and so a role in this database, which counts more. A superuser
 * runs them there.
 */
export function hostileSettings(database: string, role: string, version: number): string[] {
  const settings = HOSTILE.filter(([, , since = 0]) => version >= since);
  const holders = [`database "${database}"`, `role "${role}" in database "${database}"`];
  return [
    ACCESS_METHOD,
    ...holders.flatMap((holder) =>
      settings.map(([name, value]) => `alter ${holder} set ${name} = '${value}'`),
    ),
  ];
}
