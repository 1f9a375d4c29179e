import {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  homeFolder as homeOf,
  removeEmbedded as remove,
  startEmbedded as start,
} from "../builtin/index.ts";

/** The service's names for its built-in PostgreSQL. */
export const NAMES = { product: "partner-api", database: "partner" };

/** Attaches this process to the built-in PostgreSQL of a DATA_DIR. */
export function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  return start(NAMES, options);
}

/** Removes a DATA_DIR's database for good. */
export function removeEmbedded(dataDir: string): Promise<void> {
  return remove(NAMES, dataDir);
}

/** The folder of a DATA_DIR's database. */
export function homeFolder(dataDir: string): string {
  return homeOf(NAMES, dataDir);
}
