import { surveySecrets } from "./actions/reseal.ts";
import { printable } from "./commands/printable.ts";
import type { Config } from "./config.ts";
import { formatDuration } from "./domain/duration.ts";
import type { EventTypes } from "./domain/event-types.ts";
import { createNameLookup } from "./network/name-lookup.ts";
import type { Database } from "./postgres/database.ts";
import { findRetention } from "./postgres/migrate.ts";
import { findRole, findServer } from "./postgres/server.ts";
import { findExcess, findMissing } from "./postgres/service-rights.ts";
import { adminTokenPath, openAdminTokens } from "./wiring/admin-tokens.ts";
import { describeDatabase, EXCESS, openDatabase } from "./wiring/database.ts";
import { DatabaseClock } from "./wiring/database-clock.ts";
import { lookUpLimitMs } from "./wiring/destinations.ts";
import { openEventTypes } from "./wiring/event-types.ts";
import { isOpenToAll } from "./wiring/kept-file.ts";
import { readReceiversCa } from "./wiring/receivers-ca.ts";
import { openRing, sealingKeysPath } from "./wiring/sealing-keys.ts";
import { Writes } from "./wiring/writes.ts";

/** The oldest supported version of PostgreSQL. */
const VERSION_MIN = 15;

type Check = [what: string, check: () => Promise<string>];

/** Checks the installation and writes one line for each check. Returns false if one failed. */
export async function doctor(config: Config, write: (text: string) => void): Promise<boolean> {
  line("ok", "configuration", describe(config));
  let passed = true;
  for (const check of besideDatabase(config)) passed = (await report(check)) && passed;
  try {
    const { db, close } = await openDatabase(config, note, { max: 2 });
    for (const check of inDatabase(config, db)) passed = (await report(check)) && passed;
    await close();
    return passed;
  } catch (error) {
    line("FAULT", "database", (error as Error).message);
    return false;
  }

  async function report([what, check]: Check): Promise<boolean> {
    try {
      line("ok", what, await check());
      return true;
    } catch (error) {
      line("FAULT", what, (error as Error).message);
      return false;
    }
  }

  function note(message: string): void {
    line("note", "database", message);
  }

  function line(verdict: string, what: string, detail: string): void {
    write(`${verdict.padEnd(6)} ${what.padEnd(14)} ${printable(detail)}\n`);
  }
}

function besideDatabase(config: Config): Check[] {
  return [
    ["admin tokens", async () => (await openAdminTokens(config)).map((t) => t.name).join(", ")],
    ...filesWithModes(config),
    ["name servers", () => checkNames(config)],
    ["event types", async () => checkTypes(await openEventTypes(config))],
    ["receivers' CA", () => checkCa(config)],
  ];
}

function checkTypes({ names }: EventTypes): string {
  return names.length === 1 ? "the test event alone" : `${names.length - 1} of the platform`;
}

function filesWithModes(config: Config): Check[] {
  return process.platform === "win32" ? [] : [["secret files", () => checkFiles(config)]];
}

function inDatabase(config: Config, db: Database): Check[] {
  return [
    ["database", () => checkDatabase(config, db)],
    ["database role", () => checkRole(config, db)],
    ["durability", () => checkDurability(db)],
    ["history", () => checkHistory(config, db)],
    ["clock", () => checkClock(db)],
    ["sealing keys", () => checkRing(config, db)],
  ];
}

function describe({ role, retryDelaysMs, egress }: Config): string {
  const attempts = `${retryDelaysMs.length + 1} attempts`;
  const denied = egress.deny.length > 0 ? `, EGRESS_DENY blocks ${egress.deny.length} more` : "";
  const allowed = egress.allow.length > 0 ? ", EGRESS_ALLOW is set: not for production" : "";
  return `role ${role}, ${attempts}${denied}${allowed}`;
}

async function checkFiles({ dataDir }: Config): Promise<string> {
  const open: string[] = [];
  for (const path of [adminTokenPath(dataDir), sealingKeysPath(dataDir)]) {
    if (await isOpenToAll(path)) open.push(path);
  }
  if (open.length > 0) throw new Error(`open to every user: chmod o-rw ${open.join(" ")}`);
  return "none is open to every user";
}

async function checkDatabase(config: Config, db: Database): Promise<string> {
  const { version } = await findServer(db);
  if (Number.parseInt(version) < VERSION_MIN) {
    throw new Error(`PostgreSQL ${version} is too old: ${VERSION_MIN} or newer is required`);
  }
  await new Writes(db).check().catch((cause: unknown) => {
    throw new Error(
      `${describeDatabase(config)} takes no writes (${cause instanceof Error ? cause.message : String(cause)}): ` +
        "it is a standby, default_transaction_read_only is on, or a synchronous standby is missing",
      { cause },
    );
  });
  return `PostgreSQL ${version}, ${describeDatabase(config)}, schema up to date`;
}

async function checkRole(config: Config, db: Database): Promise<string> {
  const role = await findRole(db);
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
  if (keptMs === retentionMs) return `kept ${formatDuration(retentionMs)}`;
  const kept = keptMs === null ? "for ever" : formatDuration(keptMs);
  throw new Error(
    `kept ${kept} instead of ${formatDuration(retentionMs)}: run \`migrate\` with RETENTION`,
  );
}

async function checkDurability(db: Database): Promise<string> {
  const { fsync, synchronous_commit: commit } = await findServer(db);
  if (fsync !== "on" || commit === "off") {
    throw new Error(`fsync ${fsync}, synchronous_commit ${commit}: accepted events can be lost`);
  }
  return "commits are flushed to disk";
}

async function checkClock(db: Database): Promise<string> {
  const clock = new DatabaseClock(db);
  await clock.measure();
  const verdict = `${Math.abs(Math.round(clock.skewMs))} ms off the database's`;
  if (!clock.isRight) throw new Error(verdict);
  return verdict;
}

async function checkRing(config: Config, db: Database): Promise<string> {
  const ring = await openRing(config, db);
  const { byKey, unreadable } = await surveySecrets({ db, ring });
  if (unreadable > 0) {
    throw new Error(`no key of the ring opens ${unreadable} sealed secrets: add the missing keys`);
  }
  const sealed = [...byKey].map(([id, secrets]) => `${id} seals ${secrets}`);
  return `${ring.length} in the ring: ${sealed.join(", ")}`;
}

async function checkNames({ dnsServers, attemptTimeoutMs }: Config): Promise<string> {
  const names = createNameLookup({
    servers: dnsServers ?? undefined,
    timeoutMs: lookUpLimitMs(attemptTimeoutMs),
    answerLocalhost: false,
  });
  const answer = await names.lookup("example.com");
  names.close();
  if (answer.kind === "no-resolver") throw new Error("none answers: nothing can be delivered");
  return dnsServers?.join(", ") ?? "the system's";
}

async function checkCa(config: Config): Promise<string> {
  const isExtended = (await readReceiversCa(config)) !== undefined;
  return isExtended ? "the standard ones and those of EGRESS_CA_FILE" : "the standard ones";
}
