import type { Config } from "../config.ts";

/**
 * Throws if root would run the program for the built-in PostgreSQL. The account of the server chooses the program's
 * input, and so could misuse the rights of root.
 */
export function requireSafeExport({
  exportCommand,
  databaseUrl,
}: Pick<Config, "exportCommand" | "databaseUrl">): void {
  if (exportCommand === null || databaseUrl !== null || process.getuid?.() !== 0) return;
  throw new Error(
    "EXPORT_COMMAND: not possible if root runs the service with the built-in PostgreSQL: start it as another user, or set DATABASE_URL",
  );
}
