import { escapeIdentifier, escapeLiteral } from "pg";
import { STANDBY } from "./driver/client.ts";
import type { PoolOptions } from "./driver/pool.ts";
import { findUrlFaults as findParameterFaults, readSettings, type Target } from "./driver/url.ts";

export type Settings = Readonly<Record<string, string>>;

/**
 * What our statements mean depends on these settings. The values are in the server's spelling. A role, a database or the server may
 * have others, so each session sets them, and a URL cannot change them.
 */
const MEANING: Settings = {
  datestyle: "ISO, MDY",
  intervalstyle: "postgres",
  timezone: "UTC",
  extra_float_digits: "1",
  bytea_output: "hex",
  array_nulls: "on",
  transform_null_equals: "off",
  standard_conforming_strings: "on",
  quote_all_identifiers: "off",
  default_transaction_isolation: "read committed",
  default_transaction_read_only: "off",
  default_transaction_deferrable: "off",
  exit_on_error: "off",
};

/** The same, as a session reports them: what a transaction begins with may come from the session, or from BEGIN. */
export const EFFECTIVE: Settings = Object.fromEntries(
  Object.entries(MEANING).map(([name, value]) => [
    name.replace("default_transaction", "transaction"),
    value,
  ]),
);

/**
 * A URL can change these. Otherwise the server could end our work early or choose slow plans: nearly all our statements look up by
 * key.
 */
const WORK: Settings = {
  lock_timeout: "0",
  idle_session_timeout: "0",
  default_table_access_method: "heap",
  default_tablespace: "", // PostgreSQL refuses the database's own by its name for partitioned tables.
  client_min_messages: "warning",
  jit: "off",
  enable_indexscan: "on",
  enable_indexonlyscan: "on",
  enable_bitmapscan: "on",
  enable_nestloop: "on",
  enable_hashjoin: "on",
  enable_mergejoin: "on",
  enable_hashagg: "on",
  enable_sort: "on",
  enable_material: "on",
  enable_memoize: "on",
  enable_partition_pruning: "on",
  join_collapse_limit: "8",
  from_collapse_limit: "8",
};

/** The same, of settings that a connection cannot send at its start: two are new, and the third may be stricter than `on`. */
const LATE: Settings = {
  transaction_timeout: "0",
  restrict_nonsystem_relation_kind: "",
  synchronous_commit: "on",
};

/** Returns a sentence for each fault of a database's URL. Reads no file, and quotes no value. */
export function findUrlFaults(url: string): string[] {
  const fixed = new Set(Object.keys({ ...MEANING, restrict_nonsystem_relation_kind: "" }));
  return [
    ...findParameterFaults(url),
    ...Object.keys(readSettings(url))
      .filter((name) => fixed.has(name))
      .map((name) => `${name} is set by the service: remove it`),
  ];
}

/** Returns how our settings reach the server. A pooler ignores those that a connection sends at its start. */
export function sendSettings(
  { poolMode, settings, proxyOptions }: Target,
  ours: Settings,
): Pick<PoolOptions, "options" | "opening" | "begin"> {
  const always = { ...ours, ...settings, ...MEANING };
  const late = without(LATE, { ...ours, ...settings });
  const work = without(WORK, always);
  const options = proxyOptions.map(escapeOption).join(" ");
  switch (poolMode) {
    case null:
      return {
        options: `${asOptions({ ...work, ...always })} ${options}`,
        opening: [ASK, `select set_config(name, value, false) from ${missing(late)}`],
      };
    case "session": {
      const all = missing({ ...late, ...work, ...always });
      return {
        options,
        opening: [ASK, `select count(set_config(name, value, false)) from ${all}`],
      };
    }
    case "transaction": {
      // A transaction sets only those that this connection's database does not have by itself.
      const names = missing({ ...late, ...work });
      return {
        options,
        opening: [ASK, `select string_agg(name, ',') as missing from ${names}`],
        begin: (missing) => beginWith({ ...only(missing, { ...late, ...work }), ...always }),
      };
    }
  }
}

/** Returns libpq's `options` for a program that reads our tables, however long that takes. A pooler would refuse them. */
export function optionsForReaders({ poolMode, proxyOptions }: Target): string {
  const words = proxyOptions.map(escapeOption).join(" ");
  if (poolMode !== null) return words;
  const limits = { ...WORK, statement_timeout: "0", idle_in_transaction_session_timeout: "0" };
  return `${asOptions({ ...limits, ...MEANING })} ${words}`;
}

/** By itself, because it must go where a pooler that divides statements between servers sends what only reads. */
const ASK = `select current_setting('${STANDBY}') as ${STANDBY}`;

/** Returns those settings that the server has and that are not as given, as the rest of a statement after FROM. */
function missing(settings: Settings): string {
  const rows = Object.entries(settings).map((pair) => `(${pair.map(escapeLiteral).join(", ")})`);
  return (
    `(values ${rows.join(", ")}) as wanted (name, value) where current_setting(name, true) <> value ` +
    "and (name <> 'synchronous_commit' or current_setting(name) = 'off')"
  );
}

function without(settings: Settings, others: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !(name in others)));
}

function only(names: string[], settings: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => names.includes(name)));
}

/**
 * Each transaction may meet another server. `set local` and `show`, not functions: after a query, a transaction cannot change its
 * isolation level.
 */
function beginWith(settings: Settings): string {
  const commands = Object.entries(settings)
    .filter(([name]) => !name.startsWith("default_transaction_"))
    .map(([name, value]) => `set local ${escapeIdentifier(name)} = ${escapeLiteral(value)}`);
  const begin = "begin isolation level read committed, read write, not deferrable";
  return [begin, ...commands, `show ${STANDBY}`].join("; ");
}

function asOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${escapeOption(`${name}=${value}`)}`)
    .join(" ");
}

function escapeOption(word: string): string {
  return word.replace(/[\\\s]/g, "\\$&");
}
