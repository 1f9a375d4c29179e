import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "../binaries.ts";
import { PRODUCT } from "../home.ts";
import { dataOf } from "./files.ts";

/** Lines of a file that an operator may read. */
const SETTINGS = `
  # Connections come only through the socket, and only accounts that may enter its folder reach that.
  listen_addresses = ''
  port = 5432
  unix_socket_permissions = 0700
  max_connections = 200

  shared_buffers = 256MB
  work_mem = 8MB
  maintenance_work_mem = 128MB
  effective_cache_size = 1GB
  huge_pages = off # In a container that forbids them, trying to use them ends in SIGBUS.
  random_page_cost = 1.1

  wal_buffers = 16MB
  wal_compression = on
  min_wal_size = 512MB
  max_wal_size = 4GB
  checkpoint_timeout = 5min
  checkpoint_completion_target = 0.9

  # A queue leaves many dead rows in small tables, so autovacuum runs often and at full speed.
  autovacuum_naptime = 1s
  autovacuum_vacuum_cost_delay = 0
  # Our plans hardly depend on statistics. A sample of a growing partition costs as much as a hundred events.
  autovacuum_analyze_threshold = 10000
  autovacuum_analyze_scale_factor = 0.5
  default_statistics_target = 10

  # Our statements are too short to gain from these, and /dev/shm is small in containers.
  jit = off
  max_parallel_workers_per_gather = 0
  max_parallel_maintenance_workers = 0

  timezone = UTC
  log_timezone = UTC
  lc_messages = C

  # Statements, parameters and rows may contain secrets, so none is logged.
  log_min_error_statement = panic
  log_error_verbosity = terse
  log_parameter_max_length = 0
  log_checkpoints = off
  log_autovacuum_min_duration = -1
`;

/** Read after the settings that initdb chose, and before those of `alter system`. */
export const SETTINGS_FILE = `${PRODUCT}.conf`;

/** Writes the server's settings, at each start. */
export async function writeSettings(
  home: string,
  { folder }: Binaries,
  extra: Record<string, string>,
): Promise<void> {
  const added = { cluster_name: PRODUCT, ...ofPlatform(folder), ...extra };
  const lines = Object.entries(added).map(
    ([name, value]) => `${name} = '${value.replaceAll(/['\\]/g, "$&$&")}'\n`,
  );
  const path = join(dataOf(home), SETTINGS_FILE);
  const draft = `${path}.${randomUUID()}`;
  const text = `# Written by ${PRODUCT} at each start.\n${SETTINGS}\n${lines.join("")}`;
  await writeFile(draft, text, { flag: "wx", mode: 0o600 });
  await rename(draft, path);
}

function ofPlatform(programs: string): Record<string, string> {
  const library = join(programs, "lib", "postgresql", "pg_stat_statements");
  const hasStatistics = [`${library}.so`, `${library}.dylib`].some(existsSync);
  return {
    ...(hasStatistics && { shared_preload_libraries: "pg_stat_statements" }),
    // Before the recovery from a crash, one call flushes everything, instead of one for each file.
    ...(process.platform === "linux" && { recovery_init_sync_method: "syncfs" }),
  };
}
