import { surveySecrets } from "../actions/reseal.ts";
import type { Config } from "../config.ts";
import { formatDuration } from "../domain/duration.ts";
import { type Database, isForbidden } from "../postgres/database.ts";
import { findRetention } from "../postgres/migrate.ts";
import { findRole, findServer, isSuperuser } from "../postgres/server.ts";
import { findExcess, findMissing } from "../postgres/service-rights.ts";
import { describeDatabase, EXCESS } from "../wiring/database.ts";
import { DatabaseClock } from "../wiring/database-clock.ts";
import { openRing } from "../wiring/sealing-keys.ts";
import { Writes } from "../wiring/writes.ts";
import type { Check, Doubt } from "./check.ts";

/** The oldest supported version of PostgreSQL. */
const VERSION_MIN = 15;

export function checksInDatabase(config: Config, db: Database): Check[] {
  return [
    ["database", () => checkDatabase(config, db)],
    ["database role", () => checkRole(config, db)],
    ["durability", () => checkDurability(db)],
    ["history", () => checkHistory(config, db)],
    ["clock", () => checkClock(db)],
    ["sealing keys", () => checkRing(config, db)],
  ];
}

async function checkDatabase(config: Config, db: Database): Promise<string> {
  const { version } = await findServer(db);
  if (Number.parseInt(version) < VERSION_MIN) {
    throw new Error(`PostgreSQL ${version} is too old: ${VERSION_MIN} or newer is required`);
  }
  await new Writes(db).check().catch((cause: unknown) => {
    throw new Error(
      `${describeDatabase(config)} does not accept writes (${cause instanceof Error ? cause.message : String(cause)}): ` +
        (isForbidden(cause)
          ? "the role lacks rights, see below"
          : "it is a standby, or a synchronous standby is missing"),
      { cause },
    );
  });
  return `PostgreSQL ${version}, ${describeDatabase(config)}, schema up to date`;
}

async function checkRole(config: Config, db: Database): Promise<string | Doubt> {
  const role = await findRole(db);
  if (config.databaseUrl !== null && (await isSuperuser(db))) {
    return {
      doubt:
        `${role} of DATABASE_URL is a superuser: an intruder in the service would control the whole server. ` +
        "Give the service a role of its own (docs/configuration.md)",
    };
  }
  const missing = await findMissing(db, role);
  if (missing.length > 0) {
    throw new Error(
      `${role} lacks ${missing.join(", ")}: run \`migrate\` with MIGRATION_DATABASE_URL beside DATABASE_URL`,
    );
  }
  const excess = await findExcess(db, role);
  if (excess === null) return `${role} has only the rights that it needs`;
  if (config.migrationDatabaseUrl === null) return `${role} owns the schema`;
  throw new Error(`${role} ${EXCESS[excess]}`);
}

async function checkHistory({ retentionMs }: Config, db: Database): Promise<string> {
  const keptMs = await findRetention(db);
  if (keptMs === retentionMs) return `kept for ${formatDuration(retentionMs)}`;
  throw new Error(adviceOn(keptMs, retentionMs));
}

/** Dropped history is lost for good, so the advice names the effect of each way. */
function adviceOn(keptMs: number | null, retentionMs: number): string {
  const wanted = formatDuration(retentionMs);
  if (keptMs === null) return `history is kept forever: run \`migrate\` with RETENTION=${wanted}`;
  const kept = formatDuration(keptMs);
  const change = `run \`migrate\` with RETENTION=${wanted}`;
  const effect =
    retentionMs < keptMs
      ? `, which permanently drops history older than ${wanted}`
      : ", which keeps history longer from now on";
  return `the database keeps history for ${kept}, but RETENTION is ${wanted}: set RETENTION=${kept} here, or ${change}${effect}`;
}

async function checkDurability(db: Database): Promise<string> {
  const { fsync, synchronousCommit: commit } = await findServer(db);
  if (fsync !== "on" || commit === "off") {
    throw new Error(
      `fsync ${fsync}, synchronous_commit ${commit}: accepted events can be lost, so set what is off to on`,
    );
  }
  return "commits are flushed to disk";
}

async function checkClock(db: Database): Promise<string> {
  const clock = new DatabaseClock(db);
  await clock.measure();
  const verdict = `${Math.abs(Math.round(clock.skewMs))} ms from the database's clock`;
  if (!clock.isRight) throw new Error(verdict);
  return verdict;
}

async function checkRing(config: Config, db: Database): Promise<string> {
  const ring = await openRing(config, db);
  const { byKey, unreadable } = await surveySecrets({ db, ring });
  if (unreadable > 0) {
    throw new Error(
      `${unreadable} sealed secrets cannot be opened with the keys of the ring: add the missing keys`,
    );
  }
  const sealed = [...byKey].map(([id, secrets]) => `${id} seals ${secrets}`);
  return `${ring.length} in the ring: ${sealed.join(", ")}`;
}
