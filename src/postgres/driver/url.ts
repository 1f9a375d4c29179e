import type { ConnectionOptions } from "node:tls";
import { parse } from "pg-connection-string";

/** One way to connect to a server. libpq's variables replace missing members. */
export interface Address {
  /** A name, an IP address, or the folder of a Unix socket. */
  host?: string;
  port?: number;
  ssl: ConnectionOptions | false;
}

/** The parts of a database URL. */
export interface Target {
  addresses: Address[];
  user: string;
  password: string;
  database: string;
  /** Session settings for the server. */
  settings: Record<string, string>;
  /** How a pooler in front of the server lends connections. Null: there is none. */
  poolMode: PoolMode | null;
}

export type PoolMode = "session" | "transaction";

/** Members of a URL that are not for the server. We choose the host and the time limit. */
const CLIENTS = new Set([
  ...["host", "port", "user", "password", "database", "connect_timeout", "target_session_attrs"],
  ...["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey", "pool_mode"],
]);

/** The certificates that Node.js trusts, with `NODE_EXTRA_CA_CERTS` and `--use-openssl-ca`. */
const SYSTEM_CA = /([?&])sslrootcert=system(?=&|$)/;

/** Reads a URL as libpq does, several hosts and `sslmode` included. */
export function readUrl(url: string): Target {
  const [, before = "", authority = "", after = ""] =
    /^(\w+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? [];
  const [first = "", ...others] = authority.split(",");
  const known = readParts(before + first + after.replace(SYSTEM_CA, "$1"));
  const hosts = [...listHosts(known.host ?? "", known.port ?? ""), ...others.map(readHost)];
  const ways = SYSTEM_CA.test(after) ? systemWay(known) : listWays(known);
  return {
    addresses: hosts.flatMap((host) =>
      (host.host?.startsWith("/") ? [false as const] : ways).map((ssl) => ({ ...host, ssl })),
    ),
    user: known.user ?? "",
    password: known.password ?? "",
    database: known.database ?? "",
    poolMode: readPoolMode((known as Record<string, unknown>)["pool_mode"]),
    settings: Object.fromEntries(
      Object.entries(known).flatMap(([name, value]) =>
        CLIENTS.has(name) ? [] : [[name, String(value)]],
      ),
    ),
  };
}

/** Reads the URL and the files that it names. A fault of either is an error in the URL, not an outage. */
function readParts(url: string) {
  try {
    return parse(url, { useLibpqCompat: true });
  } catch (error) {
    throw new Error(`the database's URL: ${(error as Error).message}`, { cause: error });
  }
}

function readPoolMode(mode: unknown): PoolMode | null {
  if (mode === undefined) return null;
  if (mode === "session" || mode === "transaction") return mode;
  throw new Error("the database's URL: pool_mode must be session or transaction");
}

/** `?host=a,b&port=1,2` is a list, too. A single port applies to all hosts. */
function listHosts(hosts: string, ports: string): Pick<Address, "host" | "port">[] {
  const port = ports.split(",");
  return hosts.split(",").map((host, index) => place(host, port[index] ?? port[0] ?? ""));
}

function readHost(text: string) {
  const [, v6, name = "", port = ""] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  return place(v6 ?? decodeURIComponent(name), port);
}

function place(host: string, port: string): Pick<Address, "host" | "port"> {
  return { ...(host && { host }), ...(port && { port: Number(port) }) };
}

type Encryption = ConnectionOptions | false;

/** Returns how to connect to a host, in order of preference. Without `sslmode`: unencrypted. */
function listWays({ sslmode, ssl }: Record<string, unknown>): Encryption[] {
  const anyone = { ...(typeof ssl === "object" ? ssl : {}), rejectUnauthorized: false };
  switch (sslmode) {
    case undefined:
      return [readSsl(ssl)];
    case "disable":
      return [false];
    case "allow":
      return [false, anyone];
    case "prefer":
      return [anyone, false];
    case "require":
    case "verify-ca":
    case "verify-full":
      return [ssl as ConnectionOptions];
    default:
      throw new Error("the database's URL: unknown sslmode");
  }
}

/** Anyone can get a certificate that the system trusts, so the host's name is verified as well. */
function systemWay({ sslmode = "verify-full" }: Record<string, unknown>): Encryption[] {
  if (sslmode === "verify-full") return [{}];
  throw new Error("the database's URL: sslrootcert=system needs sslmode=verify-full");
}

/** `?ssl=true` is not libpq's, but it is common. It verifies the certificate. */
function readSsl(ssl: unknown): Encryption {
  if (ssl === undefined || ssl === false || ssl === "false") return false;
  if (ssl === true) return {};
  if (typeof ssl === "object") return ssl as ConnectionOptions; // Only `sslrootcert` was given.
  throw new Error("the database's URL: use sslmode in place of ssl");
}
