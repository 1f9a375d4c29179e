/** Completes a sentence that begins with the parameter's name. Null: the value is right. */
type Fault = string | null;
type Check = (value: string) => Fault;

const any: Check = () => null;

function oneOf(...values: string[]): Check {
  const last = values.at(-1) ?? "";
  const words = values.length === 1 ? last : `${values.slice(0, -1).join(", ")} or ${last}`;
  return (value) => (values.includes(value) ? null : `must be ${words}`);
}

function only(values: string[], why: string): Check {
  const check = oneOf(...values);
  return (value) => (check(value) === null ? null : `${check(value) ?? ""}: ${why}`);
}

function never(why: string): Check {
  return () => `is not supported: ${why}`;
}

const whole: Check = (value) => (/^\d{1,9}$/.test(value) ? null : "must be a whole number");
const ports: Check = (value) =>
  value.split(",").every((port) => /^\d*$/.test(port))
    ? null
    : "must be a port number, or a list of them";
const tlsVersion = oneOf("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3");
const utf8: Check = (value) =>
  /^(?:utf-?8|unicode|auto)$/i.test(value)
    ? null
    : "must be UTF8: the service speaks UTF-8 with every database";

const METHODS = ["none", "password", "md5", "scram-sha-256", "gss", "sspi", "oauth"];
const methods: Check = (value) => {
  const names = value.split(",").map((name) => name.trim());
  const isKnown = names.every((name) => METHODS.includes(name.replace(/^!/, "")));
  const isMixed = new Set(names.map((name) => name.startsWith("!"))).size > 1;
  return isKnown && !isMixed
    ? null
    : `must be a list of ${METHODS.join(", ")}, each of them or none with ! before it`;
};

const PASSWORD = "put the password into the URL or into PGPASSWORD";
const NO_OAUTH = "the service signs in by password or certificate";

/**
 * Every parameter of libpq 18. All others of a URL are settings of the server. A parameter that only limits how we sign in or
 * encrypt is followed or refused, never ignored.
 */
export const LIBPQ: Readonly<Record<string, Check>> = {
  host: any,
  hostaddr: any,
  port: ports,
  dbname: any,
  user: any,
  password: any,
  passfile: never("set PGPASSFILE in place of it"),
  service: never("write the URL in full"),
  options: any,
  application_name: any,
  fallback_application_name: any,
  client_encoding: utf8,
  connect_timeout: (value) => whole(value.replace(/^-/, "")),
  target_session_attrs: only(["any", "read-write", "primary"], "the service writes"),
  load_balance_hosts: oneOf("disable", "random"),
  keepalives: oneOf("0", "1"),
  keepalives_idle: whole,
  keepalives_interval: whole,
  keepalives_count: whole,
  tcp_user_timeout: whole,
  replication: only(["false", "off", "no", "0"], "the service does not replicate"),
  sslmode: oneOf("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
  sslnegotiation: oneOf("postgres", "direct"),
  sslrootcert: any,
  sslcert: any,
  sslkey: any,
  sslpassword: any,
  sslcertmode: only(["disable", "allow"], "the driver cannot tell if the server asks for one"),
  sslcompression: oneOf("0", "1"),
  sslcrl: any,
  sslcrldir: never("name one file as sslcrl"),
  sslsni: only(["1"], "the driver always sends the host's name"),
  sslkeylogfile: never("start Node.js with --tls-keylog in place of it"),
  ssl_min_protocol_version: tlsVersion,
  ssl_max_protocol_version: tlsVersion,
  min_protocol_version: only(["3.0"], "the driver speaks version 3.0"),
  max_protocol_version: oneOf("3.0", "3.2", "latest"),
  channel_binding: oneOf("disable", "prefer", "require"),
  require_auth: methods,
  requirepeer: never("the driver cannot tell who owns the other end of a socket"),
  scram_client_key: never(PASSWORD),
  scram_server_key: never(PASSWORD),
  gssencmode: only(["disable", "prefer"], "the service encrypts by TLS"),
  gssdelegation: oneOf("0", "1"),
  gsslib: any,
  krbsrvname: any,
  oauth_issuer: never(NO_OAUTH),
  oauth_client_id: never(NO_OAUTH),
  oauth_client_secret: never(NO_OAUTH),
  oauth_scope: never(NO_OAUTH),
};

/** libpq's variables that say how to protect a connection, with their parameters. */
export const PROTECTION: Readonly<Record<string, string>> = {
  PGSSLMODE: "sslmode",
  PGSSLNEGOTIATION: "sslnegotiation",
  PGCHANNELBINDING: "channel_binding",
  PGSSLCERT: "sslcert",
  PGSSLKEY: "sslkey",
  PGSSLCERTMODE: "sslcertmode",
  PGSSLCRL: "sslcrl",
  PGREQUIREAUTH: "require_auth",
  PGSSLMINPROTOCOLVERSION: "ssl_min_protocol_version",
  PGSSLMAXPROTOCOLVERSION: "ssl_max_protocol_version",
  PGGSSENCMODE: "gssencmode",
};

/** Variables with which a fleet may protect or direct the connections of libpq's programs. The driver does not read them. */
const UNREAD: Readonly<Record<string, string>> = {
  ...PROTECTION,
  PGREQUIRESSL: "sslmode",
  PGSSLROOTCERT: "sslrootcert",
  PGSSLCRLDIR: "sslcrldir",
  PGREQUIREPEER: "requirepeer",
  PGHOSTADDR: "hostaddr",
  PGOPTIONS: "options",
  PGCONNECT_TIMEOUT: "connect_timeout",
  PGTARGETSESSIONATTRS: "target_session_attrs",
  PGSERVICE: "service",
  PGSSLSNI: "sslsni",
  PGMINPROTOCOLVERSION: "min_protocol_version",
};
/** Parameters whose permitted values all mean what the service does without them. */
const WITHOUT_EFFECT = ["gssencmode", "target_session_attrs", "sslsni", "min_protocol_version"];
/** A URL with the second parameter says enough without the first. */
const IMPLIED: Readonly<Record<string, string>> = { sslrootcert: "sslmode" };

/** Returns a sentence for each variable that the environment has for libpq and that a URL lacks. No sentence quotes a value. */
export function findUnread(
  variables: Readonly<Record<string, string | undefined>>,
  url: string,
): string[] {
  const says = (parameter = "") => new RegExp(`[?&]${parameter}=`).test(url);
  return Object.entries(UNREAD).flatMap(([variable, parameter]) => {
    const value = variables[variable] ?? "";
    const implied = IMPLIED[parameter];
    if (value === "" || says(parameter) || (implied !== undefined && says(implied))) return [];
    const fault = LIBPQ[parameter]?.(value) ?? null;
    if (fault !== null && variable !== "PGREQUIRESSL") return [`${variable} ${fault}`];
    if (WITHOUT_EFFECT.includes(parameter)) return [];
    return [`${variable} is not read: write ${parameter} into the database's URL`];
  });
}

const POOL_MODES = ["session", "transaction"] as const;
export type PoolMode = (typeof POOL_MODES)[number];

const OWN_POOL = never("the service has a pool of its own");
const NO_NAMES = never("set pool_mode=transaction in place of it");
const SCHEMA = never("set search_path in place of it");

/** Parameters of ours, and of other libraries and providers, which PostgreSQL would refuse. */
const OTHERS: Readonly<Record<string, Check>> = {
  pool_mode: oneOf(...POOL_MODES),
  ssl: (value) =>
    /^(?:true|false|0|1)$/.test(value) ? null : "must be true or false: use sslmode in place of it",
  uselibpqcompat: only(["true"], "sslmode has libpq's meaning here"),
  sslaccept: never("set sslmode in place of it"),
  pgbouncer: NO_NAMES,
  prepared_statements: NO_NAMES,
  statement_cache_size: NO_NAMES,
  prepared_statement_cache_size: NO_NAMES,
  prepareThreshold: NO_NAMES,
  schema: SCHEMA,
  currentSchema: SCHEMA,
  connection_limit: OWN_POOL,
  pool: OWN_POOL,
  pool_size: OWN_POOL,
  pool_timeout: OWN_POOL,
  // Vercel's label of a database of Supabase, and what Doctrine needs to know.
  ...{ supa: any, serverVersion: any, charset: utf8 },
};

const CHECKS = new Map(Object.entries({ ...LIBPQ, ...OTHERS }));

/** Returns true if the parameter is not for the server. */
export function isClients(name: string): boolean {
  return CHECKS.has(name);
}

/** Returns a sentence for each parameter with a wrong value. No sentence quotes a value, because it may be a secret. */
export function findFaults(parameters: Readonly<Record<string, string>>): string[] {
  return Object.entries(parameters).flatMap(([name, value]) => {
    const fault = CHECKS.get(name)?.(value) ?? misspelt(name);
    return fault === null ? [] : [`${name} ${fault}`];
  });
}

/** Parameters of libpq are written in lower case. The server would refuse the others by a word that it knows. */
function misspelt(name: string): Fault {
  const lower = name.toLowerCase();
  return lower !== name && lower in LIBPQ ? `must be written ${lower}` : null;
}

/** Returns true if `require_auth` lets the server ask for this method. */
export function mayAsk(required: string | undefined, method: string): boolean {
  if (required === undefined) return true;
  const names = required.split(",").map((name) => name.trim());
  return required.includes("!") ? !names.includes(`!${method}`) : names.includes(method);
}
