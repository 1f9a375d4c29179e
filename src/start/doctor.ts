import { getServers } from "node:dns";
import { painter, type Style, wrap } from "../commands/output.ts";
import type { Config } from "../config/config.ts";
import { warningsOf } from "../config/warnings.ts";
import { Egress } from "../egress/index.ts";
import { type Listener, listenersOf, requireListenable, urlOf } from "../http/listener.ts";
import { findProgram, requireSafeExport } from "../jobs/history-exports.ts";
import { formatDuration } from "../lib/duration.ts";
import { isWide } from "../lib/ip-address.ts";
import { isOpenToAll } from "../lib/kept.ts";
import { printable } from "../lib/printable.ts";
import { DatabaseClock } from "../observe/database-clock.ts";
import { Writes } from "../observe/outage.ts";
import { type Database, isForbidden } from "../postgres/database.ts";
import { findRole, findServer, isSuperuser, requireServer } from "../postgres/server.ts";
import { findRetention } from "../schema/migrate.ts";
import { findExcess, findMissing, findOthers } from "../schema/rights.ts";
import type { EventTypes } from "../subjects/event-types/rules.ts";
import { surveySecrets } from "../subjects/secrets/work.ts";
import {
  describeDatabase,
  describeOthers,
  EXCESS,
  openDatabase,
  requireConnections,
} from "./database.ts";
import { lookUpLimitMs, readReceiversCa, requireEgressSource, requireTls } from "./egress.ts";
import { openEventTypes } from "./event-types.ts";
import { adminTokenPath, openAdminTokens, openRing, sealingKeysPath } from "./keys.ts";
import { countWorkers } from "./workers.ts";

const ANSWER_MS = 2_000;

const VARIABLES = {
  partners: { host: "HOST", port: "PORT" },
  operators: { host: "OPERATOR_HOST", port: "OPERATOR_PORT" },
};

function listenerChecks(config: Config): Check[] {
  return listenersOf(config).map((listener) => [
    `${listener.of}' port`,
    () => checkListener(listener),
  ]);
}

async function checkListener({ of, host, port }: Listener): Promise<string> {
  try {
    await requireListenable(host, port);
    return `${host}:${port} is free`;
  } catch (error) {
    const { message, cause } = error as Error;
    const isTaken = (cause as NodeJS.ErrnoException).code === "EADDRINUSE";
    if (isTaken && (await isOurs(urlOf(host, port))))
      return `${host}:${port} is in use by this service`;
    const names = VARIABLES[of];
    throw new Error(
      `${message}: change ${isTaken ? names.port : `${names.host} or ${names.port}`}`,
      {
        cause: error,
      },
    );
  }
}

/** Returns true if this service listens there. `doctor` is run beside it. */
async function isOurs(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const { status } = (await answer.json()) as { status?: unknown };
    return status === "ok" && answer.headers.has("x-request-id");
  } catch {
    return false;
  }
}

function checksBesideDatabase(config: Config): Check[] {
  return [
    ["admin tokens", async () => (await openAdminTokens(config)).map((t) => t.name).join(", ")],
    ...filesWithModes(config),
    ...listenerChecks(config),
    ["egress", () => checkEgress(config)],
    ["name servers", () => checkNameServers(config)],
    ["event types", async () => checkTypes(await openEventTypes(config))],
    ["receivers' CA", () => checkCa(config)],
    ["export", () => checkExport(config)],
  ];
}

function filesWithModes(config: Config): Check[] {
  return process.platform === "win32" ? [] : [["secret files", () => checkFiles(config)]];
}

async function checkFiles({ dataDir }: Config): Promise<string> {
  const open: string[] = [];
  for (const path of [adminTokenPath(dataDir), sealingKeysPath(dataDir)]) {
    if (await isOpenToAll(path)) open.push(path);
  }
  if (open.length > 0) throw new Error(`accessible to every user: chmod o-rw ${open.join(" ")}`);
  return "none is accessible to every user";
}

/** Only warned about at the start, so that a test rig can run. */
async function checkEgress(config: Config): Promise<string> {
  const { allow, deny } = config.egress;
  if (allow.some(isWide)) {
    throw new Error(
      "EGRESS_ALLOW holds a block that is larger than any private network: partners' URLs then lead to " +
        "this machine and its neighbours. Name only the networks of your test rig",
    );
  }
  await requireEgressSource(config);
  requireTls();
  const { ipv4, ipv6 } = config.egressSource;
  const from = [ipv4, ipv6].filter((address) => address !== null).join(", ");
  const blocked = deny.length > 0 ? `, without ${deny.length} blocks of EGRESS_DENY` : "";
  const allowed = allow.length > 0 ? ` and ${allow.length} blocks of EGRESS_ALLOW` : "";
  return `public addresses${allowed}${blocked}${from === "" ? "" : `, from ${from}`}`;
}

/** Asks each server by itself, because the system silently skips a dead one and every look-up then takes longer. */
async function checkNameServers(config: Config): Promise<string | Doubt> {
  const servers = config.dnsServers ?? getServers();
  const from = config.dnsServers ? "DNS_SERVERS" : "the system's resolver configuration";
  if (servers.length === 0)
    throw new Error(`${from} lists no name server: nothing can be delivered`);

  const dead: string[] = [];
  await Promise.all(
    servers.map(async (server) => {
      if (!(await doesAnswer(server, config))) dead.push(server);
    }),
  );
  if (dead.length === 0) return `${servers.join(", ")} answer`;
  const who = `${dead.join(", ")} (from ${from}) ${dead.length === 1 ? "does" : "do"} not answer`;
  if (dead.length === servers.length) {
    throw new Error(`${who}: nothing can be delivered. Correct the address, or allow port 53`);
  }
  return { doubt: `${who}: look-ups take longer. Remove or repair it` };
}

async function doesAnswer(server: string, { attemptTimeoutMs }: Config): Promise<boolean> {
  const lookUpMs = lookUpLimitMs(attemptTimeoutMs);
  const egress = new Egress({ nameServers: [server], lookUpMs });
  const vetted = await egress.check("https://example.com/");
  await egress.close();
  return vetted.ok || vetted.refusal !== "no_resolver";
}

function checkTypes({ names }: EventTypes): string {
  return names.length === 1 ? "the test event only" : `${names.length - 1} of the platform`;
}

async function checkCa(config: Config): Promise<string> {
  const isExtended = (await readReceiversCa(config)) !== undefined;
  return isExtended ? "the default CAs and those of EGRESS_CA_FILE" : "the default CAs";
}

async function checkExport(config: Config): Promise<string> {
  const { exportCommand } = config;
  if (exportCommand === null) return "none: expired history is dropped";
  requireSafeExport(config);
  const { program, env } = exportCommand;
  const found = await findProgram(program, env["PATH"]);
  if (found === null) {
    throw new Error(`EXPORT_COMMAND: ${program} cannot be run: install it, or correct the path`);
  }
  return `${found} runs before expired history is dropped`;
}

/** A check of `doctor`. Returns its finding. Throws if something must be repaired. */
type Check = [what: string, check: () => Promise<string | Doubt>];

/** Something that works but is unfit for production. */
interface Doubt {
  doubt: string;
}

function checksInDatabase(config: Config, db: Database): Check[] {
  return [
    ["database", () => checkDatabase(config, db)],
    ["database role", () => checkRole(config, db)],
    ["connections", async () => requireConnections(db, await countWorkers(config))],
    ["durability", () => checkDurability(db)],
    ["history", () => checkHistory(config, db)],
    ["clock", () => checkClock(db)],
    ["sealing keys", () => checkRing(config, db)],
  ];
}

async function checkDatabase(config: Config, db: Database): Promise<string> {
  const { version } = await findServer(db);
  await requireServer(db);
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
  const isOwner = excess === "owner" && config.migrationDatabaseUrl === null;
  if (excess !== null && !isOwner) throw new Error(`${role} ${EXCESS[excess]}`);
  const others = await findOthers(db);
  if (others !== null) return { doubt: describeOthers(others) };
  return isOwner ? `${role} owns the schema` : `${role} has only the rights that it needs`;
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

const STYLES = {
  ok: "green",
  note: "dim",
  warn: "yellow",
  FAULT: "red",
} as const satisfies Record<string, Style>;

/** Under the details. */
const INDENT = " ".repeat(23);

/** Checks the installation and writes one line for each check. Returns false if one failed. */
export async function doctor(
  config: Config,
  { write, isTerminal }: { write: (text: string) => void; isTerminal: boolean },
): Promise<boolean> {
  const paint = painter({ isTerminal });
  line("ok", "configuration", describe(config));
  for (const { message } of warningsOf(config)) line("warn", "configuration", message);
  let passed = true;
  for (const check of checksBesideDatabase(config)) passed = (await report(check)) && passed;
  try {
    const { db, close } = await openDatabase(config, note, { max: 2 });
    for (const check of checksInDatabase(config, db)) passed = (await report(check)) && passed;
    await close();
    return passed;
  } catch (error) {
    line("FAULT", "database", (error as Error).message);
    return false;
  }

  async function report([what, check]: Check): Promise<boolean> {
    try {
      const found = await check();
      if (typeof found === "string") line("ok", what, found);
      else line("warn", what, found.doubt);
      return true;
    } catch (error) {
      line("FAULT", what, (error as Error).message);
      return false;
    }
  }

  function note(message: string): void {
    line("note", "database", message);
  }

  function line(verdict: keyof typeof STYLES, what: string, detail: string): void {
    const word = verdict.padEnd(6);
    const shown = paint(STYLES[verdict], word);
    const text = `${shown} ${what.padEnd(15)} ${printable(detail)}`;
    write(isTerminal ? wrap(text, INDENT, shown.length - word.length) : `${text}\n`);
  }
}

function describe({ role, retryDelaysMs }: Config): string {
  return `role ${role}, ${retryDelaysMs.length + 1} attempts`;
}
