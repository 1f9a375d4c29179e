import { codeOf } from "../lib/objects.ts";
import { arrayText } from "../postgres/array-text.ts";
import { type Database, isForbidden, type Queryable } from "../postgres/database.ts";
import { lockSchema } from "./migrate.ts";

/** A role whose only right is to call `partner_api_publish`. */
export const PUBLISHER_ROLE = "partner_api_publisher";
const PUBLISH = "partner_api_publish";

/** The errors if two processes create the same role at once. */
const EXISTS = ["42710", "23505"];

/**
 * Creates the role and grants its right. If the schema's owner may not create roles, returns the statement that an
 * administrator has to run first. Otherwise returns null.
 */
export async function grantPublisher(owner: Database): Promise<string | null> {
  const create = `create role ${PUBLISHER_ROLE} nologin`;
  const known = await owner`select from pg_roles where rolname = ${PUBLISHER_ROLE}`;
  if (known.length === 0) {
    try {
      await owner.unsafe(create);
    } catch (error) {
      if (isForbidden(error)) return create;
      if (!EXISTS.includes(codeOf(error))) throw error;
    }
  }
  return grantExecute(owner);
}

/** Every start calls this, so it changes nothing if the right exists. Returns a statement that only the schema's owner may run. */
function grantExecute(owner: Database): Promise<string | null> {
  return owner.begin(async (tx) => {
    await lockSchema(tx);
    const [{ schema, isGranted }] = await tx<[{ schema: string; isGranted: boolean }]>`
      select current_schema() as schema,
             has_function_privilege(${PUBLISHER_ROLE}::name, oid, 'execute')
               and has_schema_privilege(${PUBLISHER_ROLE}::name, pronamespace, 'usage') as "isGranted"
        from pg_proc
       where oid = 'partner_api_publish'::regproc`;
    if (isGranted) return null;
    await tx`grant usage on schema ${tx(schema)} to ${tx(PUBLISHER_ROLE)}`;
    await tx`grant execute on function partner_api_publish to ${tx(PUBLISHER_ROLE)}`;
    return findDenied(tx, schema, PUBLISHER_ROLE);
  });
}

/**
 * The rights of the service to each table if its role does not own the schema. The role can neither change nor erase what
 * happened. A subscription keeps its URL and its organization, and a key keeps its hash. Tables that are not listed are
 * inaccessible, so list each new one.
 */
const RIGHTS: Record<string, string> = {
  organizations: "select, insert, update (rate_limit_per_minute, closed_at)",
  slugs: "select, insert",
  api_keys: "select, insert, update (last_used_at, revoked_at)",
  subscriptions:
    "select, insert, update (sealed_secret, consecutive_failures, auto_disabled_at, deleted_at)",
  subscription_ceilings: "select, insert, update (max_per_second, burst, full_at, held_at), delete",
  events: "select, insert",
  dedupe_keys: "select, insert, update (event_id, at), delete",
  kept_answers: "select, insert, update (request_hash, subscription_id, at, sealed_answer), delete",
  limit_notices: "select, insert, update (at)",
  waiting_deliveries: "select, insert, update, delete",
  finished_deliveries: "select, insert, update (attempts, last_reason)",
  cancelled_leases: "select, insert, delete",
  cancel_reasons: "select, insert",
  attempts: "select, insert",
  redelivery_marks: "select, insert",
  redelivery_jobs:
    "select, insert, update (state, finished_at, total, done, skipped, failed, at_subscription, at_state, at_delivery, next_at, written_at)",
  finished: "select",
  audit: "select",
  rate_windows: "select, insert, update",
  history_exports: "select, update (lease_id, next_at, failures, failing_since, last_failure)",
  settings: "select",
  event_types: "select, insert, update (retired_at)",
  event_type_nodes: "select, insert, update (names, seen_at, ended_at), delete",
  operator_changes: "select, insert",
  ended_sessions: "select, insert, delete",
  activity_minutes: "select, insert, update, delete",
  activity_hours: "select, insert, update",
  processes: "select, insert, update, delete",
  bridges: "select, insert, update, delete",
  readiness: "select, update (writes)",
  schema_migrations: "select",
};

const FUNCTIONS = [
  "create_partitions",
  "drop_expired_partitions",
  "detach_expired_partition",
  "permit_export",
  "drop_exported_partition",
  "delete_expired_rows",
  "drop_rolled_up_minutes",
  "lock_partitions",
  "delete_expired_marks",
  "delete_expired_leases",
  "delete_expired_reasons",
  "delete_expired_jobs",
  "delete_expired_changes",
  "move_strays",
  "erase_payload",
  "record_late_successes",
  "retention",
  "partition_width",
  "first_id_at",
  "time_of",
  "second_of",
  "moment_of",
  "event_of",
  "delivery_of",
  "is_redelivery",
  "attempt_id",
];

/** Returns the role whose rights count in sessions of this one: another one, after `alter role … set role`. */
export async function findActingRole(db: Queryable, role: string): Promise<string> {
  const [row] = await db<[{ acting: string }?]>`
    select substr(setting, 6) as acting
      from pg_db_role_setting, unnest(setconfig) as setting
     where setting like 'role=%'
       and setrole in (0, (select oid from pg_roles where rolname = ${role}))
       and setdatabase in (0, (select oid from pg_database where datname = current_database()))
     order by setrole <> 0 desc, setdatabase <> 0 desc
     limit 1`;
  return row?.acting ?? role;
}

/** Grants the service's role exactly its rights, and revokes others. Other objects in the schema are not changed. */
export async function grantService(db: Database, role: string): Promise<void> {
  await db.begin(async (tx) => {
    await lockSchema(tx); // The server refuses two grants on one table at the same time.
    const name = tx(role);
    const [{ schema }] = await tx<[{ schema: string }]>`select current_schema() as schema`;
    await tx`grant usage on schema ${tx(schema)} to ${name}`; // Every role has this by default. It may have been revoked.
    for (const [table, rights] of Object.entries(RIGHTS)) {
      await tx`revoke all on ${tx(table)} from ${name}`;
      await tx`grant ${tx.unsafe(rights)} on ${tx(table)} to ${name}`;
    }
    await tx`grant execute on function ${tx.unsafe(FUNCTIONS.join(", "))} to ${name}`;
    const denied = await findDenied(tx, schema, role);
    if (denied !== null)
      throw new Error(
        `${role} may not use the schema ${schema}: as the schema's owner, run \`${denied}\``,
      );
  });
}

/** Who does not own the schema grants nothing, and the server only warns of that. Returns what the owner has to run. */
async function findDenied(tx: Queryable, schema: string, role: string): Promise<string | null> {
  const [row] = await tx<[{ grant: string }?]>`
    select format('grant usage on schema %I to %I', ${schema}::text, ${role}::text) as grant
     where not has_schema_privilege(${role}::name, ${schema}, 'usage')`;
  return row?.grant ?? null;
}

/** Returns the rights that this role lacks, as in a GRANT. */
export async function findMissing(db: Queryable, role: string): Promise<string[]> {
  const needed = listRights();
  const rows = await db<{ missing: string }[]>`
    select verb || coalesce(' (' || col || ')', '') || ' on ' || tab as missing
      from unnest(${arrayText(needed.map(({ table }) => table))}::text::text[],
                  ${arrayText(needed.map(({ verb }) => verb))}::text::text[],
                  ${arrayText(needed.map(({ column }) => column))}::text::text[]) as needed (tab, verb, col)
     where not case when col is null then has_table_privilege(${role}::name, tab, verb)
                    else has_column_privilege(${role}::name, tab, col, verb) end
     union all
    select 'execute on function ' || name
      from unnest(${arrayText(FUNCTIONS)}::text::text[]) as name
     where not has_function_privilege(${role}::name, name::regproc, 'execute')
     order by 1`;
  return rows.map(({ missing }) => missing);
}

/** Returns the rights for each table and each column. */
function listRights(): { table: string; verb: string; column: string | null }[] {
  return Object.entries(RIGHTS).flatMap(([table, rights]) =>
    [...rights.matchAll(/(\w+)(?: \((.+?)\))?/g)].flatMap(([, verb = "", columns]) =>
      (columns?.split(", ") ?? [null]).map((column) => ({ table, verb, column })),
    ),
  );
}

/**
 * Returns what makes a role stronger than the service needs, or null. A role that may create in the schema is as strong as its
 * owner, because the owner's functions would use its objects.
 */
export async function findExcess(db: Queryable, role: string): Promise<"owner" | "create" | null> {
  const [row] = await db<[{ excess: "owner" | "create" | null }]>`
    select case when pg_has_role(${role}::name, relowner, 'member') then 'owner'
                when has_schema_privilege(${role}::name, relnamespace, 'create') then 'create' end as excess
      from pg_class where oid = 'settings'::regclass`;
  return row.excess;
}

/**
 * Returns the names of other roles that may empty our tables or publish, which we give to none. Null: there are none. A database may
 * give all rights to whatever is created.
 */
export async function findOthers(db: Queryable): Promise<string | null> {
  const [row] = await db<[{ others: string | null }]>`
    with ours as (select relnamespace as schema from pg_class where oid = 'settings'::regclass),
    rights as (
      select relacl as acl, relowner as owner, 'TRUNCATE' as telling from ours join pg_class on relnamespace = schema
       where relname = any(${arrayText(Object.keys(RIGHTS))}::text::text[])
       union all
      select proacl, proowner, 'EXECUTE' from ours join pg_proc on pronamespace = schema where proname = ${PUBLISH}),
    granted as (
      select coalesce(quote_ident(rolname), 'public') as name
        from rights, aclexplode(acl) left join pg_roles r on r.oid = grantee
       where privilege_type = telling and grantee <> owner and rolname is distinct from ${PUBLISHER_ROLE})
    select string_agg(distinct name, ', ' order by name) as others from granted`;
  return row.others;
}

/** Throws if search_path names no schema of the database. A role without rights to one that it names is another fault. */
export async function requireOwnSchema(db: Queryable): Promise<void> {
  const [row] = await db<[{ path: string; isFound: boolean }]>`
    with named as (
      select coalesce(replace(word[1], '""', '"'), lower(word[2] collate "C")) as name
        from regexp_matches(current_setting('search_path'), '"((?:[^"]|"")+)"|([^",\\s]+)', 'g') as word)
    select current_setting('search_path') as path,
           exists (select from named
                     join pg_namespace on nspname = case name when '$user' then current_user else name end) as "isFound"`;
  if (row.isFound) return;
  throw new Error(
    `search_path is ${row.path}, which names no schema of the database: ` +
      "add search_path=public to the URL, or create a schema for the service and name that",
  );
}

/**
 * Throws if a schema that comes before ours in this session has a table or a function of the same name. We would read and write the
 * other one.
 */
export async function requireSight(db: Queryable): Promise<void> {
  const names = arrayText([...Object.keys(RIGHTS), ...FUNCTIONS]);
  const [row] = await db<[{ schema: string | null; hidden: string | null }]>`
    with ours as (
      select relnamespace as schema from pg_class where oid = to_regclass('schema_migrations')),
    hidden as (
      select relname as name from ours join pg_class c on relnamespace = schema
       where relname = any(${names}::text::text[]) and not pg_table_is_visible(c.oid)
       union
      select proname from ours join pg_proc p on pronamespace = schema
       where proname = any(${names}::text::text[]) and not pg_function_is_visible(p.oid))
    select (select quote_ident(nspname) from ours join pg_namespace n on n.oid = schema) as schema,
           (select string_agg(name, ', ' order by name) from hidden) as hidden`;
  if (row.hidden !== null)
    throw new Error(
      `another schema of search_path hides ${row.hidden} of the schema ${row.schema}: add search_path=${row.schema} to the URL`,
    );
  await requireRows(db);
}

/** Throws if row-level security, which an event trigger of others may turn on for every new table, hides our rows from this role. */
async function requireRows(db: Queryable): Promise<void> {
  const [row] = await db<[{ role: string; hidden: string | null }]>`
    select quote_ident(current_user) as role, string_agg(relname, ', ' order by relname) as hidden
      from pg_class c
     where oid = any(select to_regclass(name) from unnest(${arrayText(Object.keys(RIGHTS))}::text::text[]) as name)
       and row_security_active(oid) and not exists (select from pg_policy where polrelid = c.oid)`;
  if (row.hidden === null) return;
  throw new Error(
    `row-level security hides the rows of ${row.hidden} from the role ${row.role}: ` +
      `run \`alter role ${row.role} bypassrls\`, or use a schema where nothing turns it on`,
  );
}

/**
 * Throws if an empty database has no room for our tables: the role may not create them, or others have the name of a table,
 * function or type of ours.
 */
export async function requireFree(db: Queryable): Promise<void> {
  const names = arrayText([...Object.keys(RIGHTS), ...FUNCTIONS, PUBLISH]);
  const [row] = await db<
    [{ schema: string; role: string; isClosed: boolean; taken: string | null }]
  >`
    with ours as (select oid from pg_namespace where nspname = current_schema()),
    taken as (
      select relname as name from ours join pg_class on relnamespace = ours.oid
       union
      select typname from ours join pg_type on typnamespace = ours.oid
       union
      select proname from ours join pg_proc on pronamespace = ours.oid)
    select quote_ident(current_schema()) as schema, quote_ident(current_user) as role,
           not has_schema_privilege(current_schema(), 'create') and to_regclass('schema_migrations') is null as "isClosed",
           string_agg(name, ', ' order by name) as taken
      from taken
     where name = any(${names}::text::text[]) and to_regclass('schema_migrations') is null`;
  if (row.isClosed)
    throw new Error(
      `the role ${row.role} may not create tables in the schema ${row.schema}: ` +
        "run `partner-api migrate` with the schema's owner in MIGRATION_DATABASE_URL, " +
        `or, as that owner, \`grant create on schema ${row.schema} to ${row.role}\``,
    );
  if (row.taken === null) return;
  throw new Error(
    `the schema ${row.schema} has ${row.taken} of another application: ` +
      "create a schema for the service, and add its search_path to the URL",
  );
}
