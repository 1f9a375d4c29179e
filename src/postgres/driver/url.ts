import type { ConnectionOptions } from "node:tls";
import { parse } from "pg-connection-string";

/** A way to a server. What is absent, libpq's variables may say. */
export interface Address {
  /** A name, an address, or the folder of a Unix socket. */
  host?: string;
  port?: number;
  ssl: ConnectionOptions | false;
}

/** What a database's URL says. */
export interface Target {
  addresses: Address[];
  user: string;
  password: string;
  database: string;
  /** What it says to the server itself, as settings of a session. */
  settings: Record<string, string>;
  /** How a pooler in between lends its connections; null without one. */
  poolMode: PoolMode | null;
}

export type PoolMode = "session" | "transaction";

/** What of a URL is not for the server. We choose the host, and how long to try. */
const CLIENTS = new Set([
  ...["host", "port", "user", "password", "database", "connect_timeout", "target_session_attrs"],
  ...["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey", "pool_mode"],
]);

/** Certificates that the system trusts: those of Node.js, with `NODE_EXTRA_CA_CERTS` and `--use-openssl-ca`. */
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

/** Reads the files that it names, too. What is wrong with them is a fault of the URL, and no outage. */
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
  throw new Error("the database's URL: pool_mode is neither session nor transaction");
}

/** `?host=a,b&port=1,2` is a list as well. One port serves all hosts. */
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

/** How to try a host, in order. Without `sslmode`: in the clear. */
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
      throw new Error("the database's URL: sslmode is none of libpq's");
  }
}

/** Anybody may have a certificate that the system trusts, so the host's name is verified too. */
function systemWay({ sslmode = "verify-full" }: Record<string, unknown>): Encryption[] {
  if (sslmode === "verify-full") return [{}];
  throw new Error("the database's URL: sslrootcert=system needs sslmode=verify-full");
}

/** `?ssl=true` is not libpq's, but common: it verifies. */
function readSsl(ssl: unknown): Encryption {
  if (ssl === undefined || ssl === false || ssl === "false") return false;
  if (ssl === true) return {};
  if (typeof ssl === "object") return ssl as ConnectionOptions; // Of `sslrootcert` alone.
  throw new Error("the database's URL: use sslmode in place of ssl");
}
