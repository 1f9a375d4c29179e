import { codeOf } from "../lib/code-of.ts";

/** The operator's remedies for errors of the server and the network, by SQLSTATE or system code. */
const CURES: Record<string, string> = {
  ECONNREFUSED: "nothing listens there: start PostgreSQL, or correct host and port",
  ENOENT: "no socket is there: start PostgreSQL, or correct the folder",
  ENOTFOUND: "correct the host name",
  EAI_AGAIN: "the host name cannot be looked up now: check this machine's resolver",
  ETIMEDOUT: "correct host and port, or allow the connection in the firewall",
  EHOSTUNREACH: "correct the host, or the route to it",
  ENETUNREACH: "correct the host, or the route to it",
  "28P01": "correct the password",
  "28000":
    "create the role, allow it in pg_hba.conf, or add sslmode=verify-full or require if the server demands TLS",
  "3D000": "create the database, or correct its name",
  "42704": "remove the parameter from the URL, or correct its name",
  "42501": "grant the right, or use another role",
  "53300": "raise max_connections, or run fewer processes",
  "57P03": "wait until the server has started",
};

const TLS = /ssl|tls|certificate|self.signed/i;

/** Returns the error with the name of the URL's variable and a remedy. Errors without a code are ours and already clear. */
export function explainDatabaseFault(variable: string, error: unknown): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || code === "") return error;
  const cure = CURES[code] ?? (TLS.test(error.message) ? "correct sslmode or sslrootcert" : null);
  const words = `${variable}: ${error.message}`;
  return new Error(cure === null ? words : `${words}. To repair: ${cure}`, { cause: error });
}
