import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { findFaults, isClients, type PoolMode } from "./parameters.ts";

export type { PoolMode } from "./parameters.ts";

/** One way to connect to a server. libpq's variables replace missing members. */
export interface Address {
  /** A name, an IP address, or the folder of a Unix socket. */
  host?: string;
  port?: number;
  /** The name of the host whose address is given (`hostaddr`). The certificate is for it. */
  name?: string;
  ssl: ConnectionOptions | false;
}

/** What the server may ask of us when we sign in. */
export interface SignIn {
  /** libpq's `require_auth`. */
  methods: string | undefined;
  /** True if the sign-in must prove that nobody is between us and the server. */
  isBound: boolean;
}

/** The parts of a database URL. */
export interface Target {
  addresses: Address[];
  user: string;
  password: string;
  database: string;
  /** Our name in `pg_stat_activity`. Null: nothing is said. */
  applicationName: string | null;
  /** Session settings for the server, by names in lower case. */
  settings: Record<string, string>;
  /** Words of `options` that are for a proxy in front of the server, such as Neon's `endpoint=…`. */
  proxyOptions: string[];
  /** How a pooler in front of the server lends connections. Null: there is none. */
  poolMode: PoolMode | null;
  /** How long a connection may take. Null: nothing is said. */
  dialMs: number | null;
  keepAlive: boolean;
  /** Null: nothing is said. */
  keepAliveMs: number | null;
  /** True if TLS begins without PostgreSQL's own request for it. */
  isDirect: boolean;
  signIn: SignIn;
}

type Parameters = Readonly<Record<string, string>>;

/** Reads a URL as libpq does, several hosts and `sslmode` included. Throws an error that names every fault. */
export function readUrl(url: string): Target {
  const { authority, parameters } = split(url);
  const faults = findUrlFaults(url);
  if (faults.length > 0) throw new Error(`the database's URL: ${faults.join("; ")}`);
  const ways = listWays(parameters);
  const { settings, proxyOptions } = readOptions(parameters["options"] ?? "");
  const keepAliveS = Number(parameters["keepalives_idle"] ?? 0);
  return {
    addresses: hostsOf(authority, parameters).flatMap((host) => waysTo(host, ways)),
    user: parameters["user"] ?? authority.user,
    password: parameters["password"] ?? authority.password,
    database: parameters["dbname"] ?? authority.database,
    applicationName:
      parameters["application_name"] ?? parameters["fallback_application_name"] ?? null,
    settings: { ...settings, ...settingsOf(parameters) },
    proxyOptions,
    poolMode: (parameters["pool_mode"] as PoolMode | undefined) ?? null,
    dialMs: readDial(parameters["connect_timeout"]),
    keepAlive: parameters["keepalives"] !== "0",
    keepAliveMs: keepAliveS * 1000 || null,
    isDirect: parameters["sslnegotiation"] === "direct",
    signIn: {
      methods: parameters["require_auth"],
      isBound: parameters["channel_binding"] === "require",
    },
  };
}

/** Others wait for a connection that is being opened. */
const DIAL_MAX_S = 30;

/** In libpq, zero and less mean no limit. */
function readDial(seconds: string | undefined): number | null {
  if (seconds === undefined) return null;
  return (Number(seconds) > 0 ? Math.min(Number(seconds), DIAL_MAX_S) : DIAL_MAX_S) * 1000;
}

/** Returns a sentence for each fault of the parameters. Reads no file, and quotes no value. */
export function findUrlFaults(url: string): string[] {
  const { authority, parameters } = split(url);
  const { host = "", hostaddr = "", sslmode = "", sslrootcert = "" } = parameters;
  const isEncrypted = /^(?:require|verify-ca|verify-full)$/.test(sslmode);
  const isSystem = sslrootcert === "system";
  const { ssl_min_protocol_version: min = "", ssl_max_protocol_version: max = "TLSv1.3" } =
    parameters;
  const rules: [boolean, string][] = [
    [sslmode !== "verify-ca" || sslrootcert !== "", "sslmode=verify-ca needs sslrootcert"],
    [
      !isSystem || /^(?:verify-full)?$/.test(sslmode),
      "sslrootcert=system needs sslmode=verify-full",
    ],
    [
      parameters["sslnegotiation"] !== "direct" || isEncrypted || isSystem,
      "sslnegotiation=direct needs sslmode=require or stronger",
    ],
    [
      parameters["channel_binding"] !== "require" || isEncrypted || isSystem,
      "channel_binding=require needs sslmode=require or stronger",
    ],
    [
      !hostsOf(authority, parameters).some(({ port = 1 }) => port < 1 || port > 65_535),
      "a port must be from 1 to 65535",
    ],
    ["sslcert" in parameters === "sslkey" in parameters, "sslcert and sslkey need each other"],
    [min <= max, "ssl_min_protocol_version must not be above ssl_max_protocol_version"],
    [
      hostaddr === "" || host === "" || host.split(",").length === hostaddr.split(",").length,
      "host and hostaddr must have the same number of entries",
    ],
  ];
  const broken = rules.flatMap(([holds, words]) => (holds ? [] : [words]));
  const unread = readOptions(parameters["options"] ?? "").faults;
  return [...findFaults(parameters), ...unread, ...broken];
}

/** Returns a sentence for each variable with a list that replaces what the URL lacks. The driver takes it for one value. */
export function findLists(
  { PGHOST, PGPORT }: Readonly<Record<string, string | undefined>>,
  url: string,
): string[] {
  const { authority, parameters } = split(url);
  const hosts = hostsOf(authority, parameters);
  const lists: [name: string, list: string | undefined, isRead: boolean][] = [
    ["PGHOST", PGHOST, hosts.some(({ host }) => host === undefined)],
    ["PGPORT", PGPORT, hosts.some(({ port }) => port === undefined)],
  ];
  return lists.flatMap(([name, list = "", isRead]) =>
    isRead && list.includes(",")
      ? [`${name} is read as one value: write the list into the database's URL`]
      : [],
  );
}

/** What stands in a URL before its parameters, decoded, except that hosts have their ports. */
interface Authority {
  user: string;
  password: string;
  hosts: string[];
  database: string;
}

const URL_FORM =
  /^postgres(?:ql)?:\/\/(?:([^:/?]*)(?::([^/?]*))?@)?([^@/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s;
const HOST_FORM = /^(?:\[([\da-f:.]+(?:%[\w.-]+)?)\]|([^:[\]]*))(?::(\d*))?$/i;

/** Whether a text has the form of a database's URL. */
export function isUrl(text: string): boolean {
  try {
    split(text);
    return true;
  } catch {
    return false;
  }
}

function split(url: string): { authority: Authority; parameters: Parameters } {
  const [whole, user = "", password = "", hosts = "", database = "", query = ""] =
    URL_FORM.exec(url) ?? [];
  const list = hosts.split(",");
  if (whole === undefined || !list.every((host) => HOST_FORM.test(host)))
    throw new Error("the database's URL: it has not the form of a URL");
  // libpq reads + as itself, and an empty value as the default.
  const pairs = [...new URLSearchParams(query.replaceAll("+", "%2B"))];
  return {
    authority: {
      ...{ user: decode(user), password: decode(password) },
      ...{ hosts: list.map(decode), database: decode(database) },
    },
    parameters: Object.fromEntries(pairs.filter(([, value]) => value !== "")),
  };
}

/** A percent sign that encodes nothing stands for itself. */
function decode(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, decodeURIComponent);
}

/** Returns the settings that a URL has for the server. */
export function readSettings(url: string): Record<string, string> {
  const { parameters } = split(url);
  return { ...readOptions(parameters["options"] ?? "").settings, ...settingsOf(parameters) };
}

/** Names of settings do not depend on the case of their letters. */
function settingsOf(parameters: Parameters): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) =>
      isClients(name) ? [] : [[name.toLowerCase(), value]],
    ),
  );
}

/** Reads `-c name=value` and `--name=value`. A word without a dash is not for PostgreSQL, but for a proxy. */
function readOptions(text: string) {
  const words = [...text.matchAll(/(?:\\.|[^\\\s])+/gs)].map(([word]) =>
    word.replace(/\\(.)/gs, "$1"),
  );
  const settings: Record<string, string> = {};
  const proxyOptions: string[] = [];
  const faults: string[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const pair = word === "-c" ? (words.shift() ?? "") : word.replace(/^(?:-c|--)/, "");
    const [, name = "", value = ""] = /^([\w.-]+)=(.*)$/s.exec(pair) ?? [];
    if (!word.startsWith("-")) proxyOptions.push(word);
    else if (name === "" || name.startsWith("-"))
      faults.push("options must be a list of -c name=value");
    else settings[name.toLowerCase().replaceAll("-", "_")] = value;
  }
  return { settings, proxyOptions, faults };
}

/** A host of the URL, without its encryption. */
type Host = Omit<Address, "ssl">;

function hostsOf(authority: Authority, parameters: Parameters): Host[] {
  const hosts = authority.hosts.map(readHost);
  const { host = column(hosts, "host"), port = column(hosts, "port") } = parameters;
  return listHosts(host, port, parameters["hostaddr"] ?? "");
}

/** `?host=a,b&port=1,2` is a list, too. A single port applies to all hosts. */
function listHosts(hosts: string, ports: string, addresses: string): Host[] {
  const [port, names, ips] = [ports.split(","), hosts.split(","), addresses.split(",")];
  return (addresses === "" ? names : ips).map((_, index) => {
    const [name = "", ip = ""] = [names[index], ips[index]];
    const where = hostOf(ip === "" ? name : ip, port[index] ?? port[0] ?? "");
    return ip === "" || name === "" ? where : { ...where, name };
  });
}

function readHost(text: string): Host {
  const [, v6, name = "", port = ""] = HOST_FORM.exec(text) ?? [];
  return hostOf(v6 ?? name, port);
}

function column(hosts: Host[], name: "host" | "port"): string {
  return hosts.map((one) => one[name] ?? "").join();
}

function hostOf(host: string, port: string): Host {
  return { ...(host && { host }), ...(port && { port: Number(port) }) };
}

type Encryption = ConnectionOptions | false;

/** A socket needs no TLS. */
function waysTo(one: Host, ways: Encryption[]): Address[] {
  const { name, host } = one;
  if (host?.startsWith("/")) return [{ ...one, ssl: false }];
  const named = name !== undefined && { host: name, ...(isIP(name) === 0 && { servername: name }) };
  return ways.map((ssl) => ({ ...one, ssl: ssl && { ...ssl, ...named } }));
}

/** Returns how to connect to a host, in order of preference. Without `sslmode`: unencrypted. */
function listWays(parameters: Parameters): Encryption[] {
  const { sslrootcert, sslmode = modeOf(parameters) } = parameters;
  if (sslmode === "disable") return [false];
  const tls = readTls(parameters);
  const anyone = { ...tls, rejectUnauthorized: false };
  switch (sslmode) {
    case "allow":
      return [false, anyone];
    case "prefer":
      return [anyone, false];
    case "require":
      return [sslrootcert === undefined ? anyone : ofAuthority(tls)];
    case "verify-ca":
      return [ofAuthority(tls)];
    default:
      return [tls];
  }
}

/** `?ssl=true` is not libpq's, but it is common. It verifies the certificate, as a file for TLS does. */
function modeOf({ sslrootcert, sslcert, ssl = "false" }: Parameters): string {
  const isEncrypted =
    sslrootcert !== undefined || sslcert !== undefined || /^(?:true|1)$/.test(ssl);
  return isEncrypted ? "verify-full" : "disable";
}

/** Any certificate of the authority will do. With `sslmode=require` libpq does the same if it knows an authority. */
function ofAuthority(tls: ConnectionOptions): ConnectionOptions {
  return { ...tls, checkServerIdentity: () => undefined };
}

/** `sslrootcert=system`: the certificates that Node.js trusts, with `NODE_EXTRA_CA_CERTS` and `--use-openssl-ca`. */
function readTls(parameters: Parameters): ConnectionOptions {
  const { sslrootcert = "system", sslcert, sslkey, sslcertmode, sslpassword, sslcrl } = parameters;
  const { ssl_min_protocol_version: minVersion, ssl_max_protocol_version: maxVersion } = parameters;
  const hasCertificate = sslcert !== undefined && sslcertmode !== "disable";
  return {
    rejectUnauthorized: true, // Explicit, because an environment variable changes the default.
    ...(sslrootcert !== "system" && { ca: read(sslrootcert) }),
    ...(hasCertificate && { cert: read(sslcert), key: read(sslkey ?? "") }),
    ...(hasCertificate && sslpassword !== undefined && { passphrase: sslpassword }),
    ...(sslcrl !== undefined && { crl: read(sslcrl) }),
    ...(minVersion !== undefined && { minVersion: minVersion as "TLSv1.2" }),
    ...(maxVersion !== undefined && { maxVersion: maxVersion as "TLSv1.2" }),
  };
}

/** A file that cannot be read is an error in the URL, not an outage. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`the database's URL: ${(error as Error).message}`, { cause: error });
  }
}
