/** The names that the built-in PostgreSQL uses on a machine. */
export interface Names {
  /** Names the account, the system's folder, the settings file and the cluster. */
  product: string;
  /** The database, and the user who owns it. */
  database: string;
}
