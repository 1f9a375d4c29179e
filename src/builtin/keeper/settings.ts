import { randomUUID } from "node:crypto";
import { access, open, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "../binaries.ts";
import type { Names } from "../names.ts";
import { dataOf } from "./folders.ts";

const SETTINGS: Record<string, string> = {
  // Connections come only through the socket, and only accounts that may enter its folder reach that.
  listen_addresses: "",
  port: "5432",
  unix_socket_permissions: "0700",
  max_connections: "200",

  shared_buffers: "256MB",
  work_mem: "8MB",
  maintenance_work_mem: "128MB",
  effective_cache_size: "1GB",
  huge_pages: "off", // In a container that forbids them, trying to use them ends in SIGBUS.
  random_page_cost: "1.1",

  wal_buffers: "16MB",
  wal_compression: "on",
  min_wal_size: "512MB",
  max_wal_size: "4GB",
  checkpoint_timeout: "5min",
  checkpoint_completion_target: "0.9",
  // Before the recovery from a crash, one call flushes everything, instead of one for each file.
  ...(process.platform === "linux" ? { recovery_init_sync_method: "syncfs" } : {}),

  // A queue leaves many dead rows in small tables, so autovacuum runs often and at full speed.
  autovacuum_naptime: "1s",
  autovacuum_vacuum_cost_delay: "0",
  // Our plans hardly depend on statistics. A sample of a growing partition costs as much as a hundred events.
  autovacuum_analyze_threshold: "10000",
  autovacuum_analyze_scale_factor: "0.5",
  default_statistics_target: "10",

  // Our statements are too short to gain from these, and /dev/shm is small in containers.
  jit: "off",
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",

  timezone: "UTC",
  log_timezone: "UTC",
  lc_messages: "C",

  // Statements, parameters and rows may contain secrets, so none is logged.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_parameter_max_length: "0",
  log_checkpoints: "off",
  log_autovacuum_min_duration: "-1",
};

/** Read after the settings that initdb chose, and before those of `alter system`. */
export function settingsFile({ product }: Names): string {
  return `${product}.conf`;
}

/** Writes the server's settings, at each start. */
export async function writeSettings(
  home: string,
  binaries: Binaries,
  names: Names,
  extra: Record<string, string>,
): Promise<void> {
  const own = { ...SETTINGS, cluster_name: names.product, ...(await statistics(binaries)) };
  const lines = Object.entries({ ...own, ...extra }).map(
    ([name, value]) => `${name} = '${value.replaceAll(/['\\]/g, "$&$&")}'\n`,
  );
  const path = join(dataOf(home), settingsFile(names));
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(`# Written by ${names.product} at each start.\n${lines.join("")}`);
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

async function statistics({ folder }: Binaries): Promise<Record<string, string>> {
  const library = join(folder, "lib", "postgresql", "pg_stat_statements");
  const found = await Promise.any([access(`${library}.so`), access(`${library}.dylib`)]).then(
    () => true,
    () => false,
  );
  return found ? { shared_preload_libraries: "pg_stat_statements" } : {};
}
