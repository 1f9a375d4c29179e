import { isIP, isIPv4, isIPv6 } from "node:net";
import type { AddressPolicy, Source } from "../egress/index.ts";
import { findUnread } from "../postgres/driver/parameters.ts";
import { findLists } from "../postgres/driver/url.ts";
import { findUrlFaults } from "../postgres/session-settings.ts";
import { RETRY_DELAYS_MS } from "../subjects/deliveries/rules.ts";
import { ONLY_CELL } from "../subjects/keys/rules.ts";
import type { OperatorToken } from "../subjects/operators/rules.ts";
import type { KeyRing } from "../subjects/secrets/rules.ts";
import { SUBSCRIPTIONS_MAX } from "../subjects/subscriptions/rules.ts";
import { findForbidding, findUnfollowed, platformOf } from "./fleet.ts";
import {
  accent,
  allowedHost,
  baseUrl,
  cellName,
  cidr,
  command,
  contact,
  duration,
  Environment,
  findMisspelt,
  type Format,
  host,
  integer,
  isWildcard,
  keyword,
  LOG_LEVELS,
  type Misspelt,
  nameServer,
  oneOf,
  path,
  postgresUrl,
  readAdminTokens,
  readOperatorApi,
  readSealingKeys,
  shownAddress,
  slug,
  title,
  workers,
} from "./settings.ts";
import { readTracing, type Tracing } from "./tracing.ts";

const source: Format<string> = {
  parse: (text) => (isIP(text) !== 0 && !isWildcard(text) ? text : null),
  mustBe: "an IP address of this machine",
  quotable: true,
};

/** Reads at most one address of each family. */
function readEgressSource(env: Environment): Source {
  const addresses = env.list("EGRESS_SOURCE", source, 2) ?? [];
  const [ipv4 = null, secondIpv4] = addresses.filter((address) => isIPv4(address));
  const [ipv6 = null, secondIpv6] = addresses.filter((address) => isIPv6(address));
  if (secondIpv4 !== undefined || secondIpv6 !== undefined) {
    env.fault("EGRESS_SOURCE", "must have at most one IPv4 address and one IPv6 address");
  }
  return { ipv4, ipv6 };
}

export { parseAdminTokens, parseSealingKeys } from "./settings.ts";

const ROLES = ["all", "api", "dispatcher"] as const;
const RETENTION_MS = 30 * 24 * 3_600_000;

/** How the partners' page looks. */
export interface DeskSettings {
  /** The name of the platform. */
  title: string;
  /** A file, SVG or PNG. Null: our own logo is shown. */
  logo: string | null;
  /** `#rrggbb`. Null: our own colour. */
  accent: string | null;
}

/** All settings. */
export interface Config {
  /** Two characters, with which the ids of the cell's keys begin. */
  readonly cell: string;
  /** Null: the built-in database in `dataDir`. */
  readonly databaseUrl: string | null;
  /** The schema owner's URL. Null: the service's role owns the schema. */
  readonly migrationDatabaseUrl: string | null;
  readonly dataDir: string;

  /** Port 0: any free port. */
  readonly host: string;
  readonly port: number;
  /** Null: the address and port that the listener is bound to. */
  readonly baseUrl: string | null;
  readonly operatorHost: string;
  readonly operatorPort: number;
  /** Further names of the operators' listener, in lower case. `*`: any. */
  readonly allowedHosts: string[];
  readonly role: (typeof ROLES)[number];
  /** The processes that serve. `auto`: half of the machine's cores, at least 1. */
  readonly workers: number | "auto";

  /** Null: the tokens in `dataDir`. */
  readonly adminTokens: OperatorToken[] | null;
  /** Null: the keys in `dataDir`. */
  readonly sealingKeys: KeyRing | null;

  /** The running service that the command line uses. Null: it works on the database. */
  readonly operatorApi: { url: string; token: string } | null;

  /** The delays after the first failed attempt, the second and so on. There is one more attempt than delays. */
  readonly retryDelaysMs: number[];
  readonly attemptTimeoutMs: number;
  readonly autoDisableAfter: number;
  readonly dispatchConcurrency: number;
  readonly subscriptionConcurrency: number;
  readonly maxSubscriptions: number;

  readonly egress: AddressPolicy;
  readonly egressSource: Source;
  /** Addresses and blocks that the partners' documentation shows. */
  readonly egressShown: string[];
  /** An e-mail address or a URL that the partners' documentation shows. */
  readonly contact: string | null;
  /** Null: partners have no page. */
  readonly desk: DeskSettings | null;
  readonly egressCaFile: string | null;
  /** Each is `ip:port`. Null: the system's. */
  readonly dnsServers: string[] | null;

  /** The folder of the platform's event types. Null: there are none. */
  readonly eventTypes: string | null;
  /** Keywords and formats of their schemas that say nothing of which data is valid. */
  readonly eventTypesAnnotations: string[];
  /** The slug of the organization that can subscribe to notices. Null: none can. */
  readonly platformOrganization: string | null;

  readonly retentionMs: number;
  /** The program that exports history before it is dropped, its arguments and its environment. Null: nothing is exported. */
  readonly exportCommand: ExportCommand | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** Null: nothing is traced. */
  readonly tracing: Tracing | null;
  /** The time from the signal, which turns `/readyz` to 503, to the stop. */
  readonly drainMs: number;
  readonly shutdownGraceMs: number;

  /** Unknown variables with a name like ours. */
  readonly misspelt: Misspelt[];
  /** A sentence for each variable of libpq that says how to connect and is not followed. */
  readonly unread: string[];
  /** A sentence for each variable of a fleet that the service does not follow. */
  readonly unfollowed: string[];
  /** The variable of a platform that forwards requests to this machine. Null: there is none. */
  readonly platform: string | null;
  /** The file of NODE_EXTRA_CA_CERTS. */
  readonly nodeCaFile: string | null;
}

export interface ExportCommand {
  program: string;
  args: string[];
  /** The environment of the service without its own settings, which include secrets. */
  env: NodeJS.ProcessEnv;
}

type Settings = Omit<
  Config,
  "misspelt" | "unread" | "unfollowed" | "platform" | "nodeCaFile" | "exportCommand"
> & {
  exportCommand: string[] | null;
};

/** Reads the whole configuration. Throws one error that names every fault in it, and no secret. */
export function loadConfig(variables: NodeJS.ProcessEnv): Config {
  const env = new Environment(variables);
  const settings = read(env);
  checkTogether(settings, env);
  env.faults.push(...findForbidding(variables));
  if (env.faults.length > 0) throw new Error(`configuration:\n  ${env.faults.join("\n  ")}`);
  const [program, ...args] = settings.exportCommand ?? [];
  const others = Object.entries(variables).filter(([name]) => !env.names.includes(name));
  return {
    ...settings,
    exportCommand:
      program === undefined ? null : { program, args, env: Object.fromEntries(others) },
    misspelt: findMisspelt(Object.keys(variables), env.names),
    unread: findUnreadBeside(settings.databaseUrl, variables),
    unfollowed: findUnfollowed(variables, env.names),
    platform: platformOf(variables),
    nodeCaFile: variables["NODE_EXTRA_CA_CERTS"] ?? null,
  };
}

function findUnreadBeside(url: string | null, variables: NodeJS.ProcessEnv): string[] {
  return url === null ? [] : [...findUnread(variables, url), ...findLists(variables, url)];
}

/** Returns the names of all variables, so that they can be kept from a child process. */
export function configurationNames(): string[] {
  const env = new Environment({});
  read(env);
  return env.names;
}

function read(env: Environment): Settings {
  const dispatchConcurrency = env.value("DISPATCH_CONCURRENCY", integer(1, 10_000), 512);

  return {
    cell: env.value("CELL", cellName, ONLY_CELL),
    databaseUrl: readUrl(env, "DATABASE_URL"),
    migrationDatabaseUrl: readUrl(env, "MIGRATION_DATABASE_URL"),
    dataDir: env.value("DATA_DIR", path, ".data"),

    host: env.value("HOST", host, "127.0.0.1"),
    port: env.value("PORT", integer(0, 65_535), 8080),
    baseUrl: env.value("BASE_URL", baseUrl, null),
    operatorHost: env.value("OPERATOR_HOST", host, "127.0.0.1"),
    operatorPort: env.value("OPERATOR_PORT", integer(0, 65_535), 8081),
    allowedHosts: env.list("ALLOWED_HOSTS", allowedHost, 100) ?? [],
    role: env.value("ROLE", oneOf(ROLES), "all"),
    workers: env.value("WORKERS", workers, 1),

    adminTokens: readAdminTokens(env),
    sealingKeys: readSealingKeys(env),
    operatorApi: readOperatorApi(env),

    retryDelaysMs: env.list("RETRY_DELAYS", duration("0s", "365d"), 20) ?? [...RETRY_DELAYS_MS],
    attemptTimeoutMs: env.value("ATTEMPT_TIMEOUT", duration("1ms", "5m"), 10_000),
    autoDisableAfter: env.value("AUTO_DISABLE_AFTER", integer(1, 1_000_000), 20),
    dispatchConcurrency,
    subscriptionConcurrency: env.value(
      "SUBSCRIPTION_CONCURRENCY",
      integer(1, 10_000),
      Math.ceil(dispatchConcurrency / 2),
    ),
    maxSubscriptions: env.value("MAX_SUBSCRIPTIONS", integer(1, SUBSCRIPTIONS_MAX), 100),

    egress: {
      allow: env.list("EGRESS_ALLOW", cidr, 1_000) ?? [],
      deny: env.list("EGRESS_DENY", cidr, 1_000) ?? [],
    },
    egressSource: readEgressSource(env),
    egressShown: env.list("EGRESS_SHOWN", shownAddress, 100) ?? [],
    contact: env.value("CONTACT", contact, null),
    desk: readDesk(env),
    egressCaFile: env.value("EGRESS_CA_FILE", path, null),
    dnsServers: env.list("DNS_SERVERS", nameServer, 16),

    eventTypes: env.value("EVENT_TYPES", path, null),
    eventTypesAnnotations: env.list("EVENT_TYPES_ANNOTATIONS", keyword, 100) ?? [],
    platformOrganization: env.value("PLATFORM_ORGANIZATION", slug, null),

    retentionMs: env.value("RETENTION", duration("1ms", "3650d"), RETENTION_MS),
    exportCommand: env.value("EXPORT_COMMAND", command, null),
    logLevel: env.value("LOG_LEVEL", oneOf(LOG_LEVELS), "info"),
    tracing: readTracing(env),
    drainMs: env.value("DRAIN", duration("0s", "1h"), 0),
    shutdownGraceMs: env.value("SHUTDOWN_GRACE", duration("0s", "1h"), 15_000),
  };
}

function readDesk(env: Environment): DeskSettings | null {
  const isOn = env.value("DESK", oneOf(["true", "false"]), "true") === "true";
  const settings = {
    title: env.value("DESK_TITLE", title, "Partner API"),
    logo: env.value("DESK_LOGO", path, null),
    accent: env.value("DESK_ACCENT", accent, null),
  };
  return isOn ? settings : null;
}

function readUrl(env: Environment, variable: string): string | null {
  const url = env.value(variable, postgresUrl, null);
  for (const fault of url === null ? [] : findUrlFaults(url)) env.faultWithin(variable, fault);
  return url;
}

function checkTogether(config: Settings, env: Environment): void {
  env.rule(
    !env.isSet("SHARDS"),
    ["SHARDS"],
    "is no longer supported: start a service for each database, with DATABASE_URL and CELL, and `partner-api gateway` for all",
  );
  env.rule(
    config.migrationDatabaseUrl === null || config.databaseUrl !== null,
    ["MIGRATION_DATABASE_URL", "DATABASE_URL"],
    "requires DATABASE_URL",
  );
  env.rule(
    config.role === "dispatcher" || !doListenersClash(config),
    ["OPERATOR_PORT", "OPERATOR_HOST", "PORT", "HOST", "ROLE"],
    "must differ from PORT: partners and operators have separate listeners",
  );
  env.rule(
    config.subscriptionConcurrency <= config.dispatchConcurrency,
    ["SUBSCRIPTION_CONCURRENCY", "DISPATCH_CONCURRENCY"],
    "must not be more than DISPATCH_CONCURRENCY",
  );
}

function doListenersClash({ host, port, operatorHost, operatorPort }: Settings): boolean {
  if (port === 0 || port !== operatorPort) return false;
  return host === operatorHost || [host, operatorHost].some(isWildcard);
}
