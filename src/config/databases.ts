import { ONLY_SHARD } from "../domain/api-key.ts";
import type { Environment, Format } from "./environment.ts";
import { findUrlFaults } from "../postgres/session-settings.ts";
import { postgresUrl } from "./formats.ts";

/** A schema of a PostgreSQL server, with the organizations that live in it. */
export interface Shard {
  /** Two characters, with which the ids of its organizations' keys begin. */
  readonly shard: string;
  /** Null: the built-in database in `dataDir`. */
  readonly databaseUrl: string | null;
  /** The schema owner's URL. Null: the service's role owns the schema. */
  readonly migrationDatabaseUrl: string | null;
}

const SHARDS_MAX = 64;

const namedUrl: Format<{ shard: string; url: string }> = {
  parse: (text) => {
    const [, shard, url = ""] = /^([0-9a-z]{2})=(.*)$/s.exec(text) ?? [];
    return shard === undefined || postgresUrl.parse(url) === null ? null : { shard, url };
  },
  mustBe: `name=url, the name two characters of 0-9 and a-z, the url ${postgresUrl.mustBe}`,
};

/** Reads the shards, the home shard first. `SHARDS` replaces `DATABASE_URL`. */
export function readShards(env: Environment): readonly [Shard, ...Shard[]] {
  const databaseUrl = readUrl(env, "DATABASE_URL");
  if (!env.isSet("SHARDS")) {
    const migrationDatabaseUrl = readUrl(env, "MIGRATION_DATABASE_URL");
    return [{ shard: ONLY_SHARD, databaseUrl, migrationDatabaseUrl }];
  }
  const named = readNamedUrls(env, "SHARDS");
  const owners = readNamedUrls(env, "MIGRATION_DATABASE_URL");
  const names = (entries: { shard: string }[]) =>
    entries
      .map(({ shard }) => shard)
      .sort()
      .join();
  env.rule(
    owners.length === 0 || names(owners) === names(named),
    ["MIGRATION_DATABASE_URL", "SHARDS"],
    "must name every shard of SHARDS and no other",
  );
  const ownerUrls = new Map(owners.map(({ shard, url }) => [shard, url]));
  const [home = { shard: ONLY_SHARD, databaseUrl, migrationDatabaseUrl: null }, ...others] =
    named.map(({ shard, url }) => ({
      ...{ shard, databaseUrl: url },
      migrationDatabaseUrl: ownerUrls.get(shard) ?? null,
    }));
  return [home, ...others];
}

function readUrl(env: Environment, variable: string): string | null {
  const url = env.value(variable, postgresUrl, null);
  for (const fault of url === null ? [] : findUrlFaults(url)) env.faultWithin(variable, fault);
  return url;
}

function readNamedUrls(env: Environment, variable: string): { shard: string; url: string }[] {
  const entries = env.list(variable, namedUrl, SHARDS_MAX, /\s+/) ?? [];
  env.differ(variable, "a name", entries, "shard");
  env.differ(variable, "a URL", entries, "url");
  for (const { shard, url } of entries)
    for (const fault of findUrlFaults(url)) env.faultWithin(variable, `shard ${shard}: ${fault}`);
  return entries;
}
