import { statfs } from "node:fs/promises";
import { Gauge, type Registry } from "prom-client";

export interface Machine {
  clock: { readonly skewMs: number };
  /** The folder of the built-in database. Null if the operator runs the server. */
  databaseFolder: string | null;
}

/** Exposes the machine's state: its clock, and the disk of the built-in database. */
export function watchMachine(registers: Registry[], { clock, databaseFolder }: Machine): void {
  new Gauge({
    name: "partner_api_clock_skew_seconds",
    help: "How far the database's clock is ahead of this machine's, as measured last",
    registers,
    collect() {
      this.set(clock.skewMs / 1000);
    },
  });
  if (databaseFolder === null) return;

  new Gauge({
    name: "partner_api_data_disk_size_bytes",
    help: "The size of the disk that the built-in database is on",
    registers,
    async collect() {
      const { blocks, bsize } = await statfs(databaseFolder);
      this.set(blocks * bsize);
    },
  });
  new Gauge({
    name: "partner_api_data_disk_free_bytes",
    help: "What is free for the service on the disk that the built-in database is on",
    registers,
    async collect() {
      const { bavail, bsize } = await statfs(databaseFolder);
      this.set(bavail * bsize);
    },
  });
}
