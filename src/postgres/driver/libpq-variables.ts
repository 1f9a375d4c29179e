import { optionsForReaders } from "../session-settings.ts";
import { PROTECTION } from "./parameters.ts";
import { readUrl } from "./url.ts";

/**
 * Returns the variables with which libpq's programs, such as psql, reach the database of this URL. Where the service verifies the
 * server's certificate, they do as well. If the URL names no file of authorities, it is `authority`: a file, or the system's.
 */
export function libpqVariables(url: string, authority = "system"): Record<string, string> {
  const target = readUrl(url);
  const { addresses, user, password, database } = target;
  const hosts = [...new Map(addresses.map((one) => [`${one.host}:${one.port}`, one])).values()];
  const query = new URLSearchParams(/\?(.*)$/s.exec(url)?.[1] ?? "");
  const isVerified = addresses.some(({ ssl }) => ssl !== false && ssl.rejectUnauthorized !== false);
  if (isVerified && !query.has("sslmode")) query.set("sslmode", "verify-full");
  const isFull = query.get("sslmode") === "verify-full";
  const namesFile = (query.get("sslrootcert") ?? "system") !== "system";
  if (isFull && !namesFile) query.set("sslrootcert", authority);
  const variables = {
    PGHOST: hosts.map(({ name, host }) => name ?? host ?? "").join(","),
    PGHOSTADDR: hosts.map(({ name, host }) => (name === undefined ? "" : host)).join(","),
    PGPORT: hosts.map(({ port }) => port ?? "").join(","),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
    PGOPTIONS: optionsForReaders(target),
    PGSSLROOTCERT: query.get("sslrootcert") ?? "",
    PGTARGETSESSIONATTRS: hosts.length > 1 ? "read-write" : "",
    ...Object.fromEntries(
      Object.entries(PROTECTION).map(([name, member]) => [name, query.get(member) ?? ""]),
    ),
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => /[^,]/.test(value)));
}
