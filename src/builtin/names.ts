/** The names that the built-in PostgreSQL uses on a machine. */
export interface Names {
  /** Names the account, the system's folder, the settings file and the cluster. */
  product: string;
  /** The database, and the user who owns it. */
  database: string;
}

/**
 * A URL for our driver and for libpq, psql included. The built-in server asks for no password. With one in the URL, clients never
 * send `PGPASSWORD` or a password of `~/.pgpass` to another program on that socket.
 */
export function socketUrl({ database }: Names, folder: string): string {
  return `postgres://${database}:none@${encodeURIComponent(folder)}:5432/${database}`;
}
