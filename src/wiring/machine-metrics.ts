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
    help: "Seconds by which the database's clock is ahead of this machine's, at the last measurement",
    registers,
    collect() {
      this.set(clock.skewMs / 1000);
    },
  });
  if (databaseFolder === null) return;

  new Gauge({
    name: "partner_api_data_disk_size_bytes",
    help: "Size of the disk of the built-in database",
    registers,
    async collect() {
      const { blocks, bsize } = await statfs(databaseFolder);
      this.set(blocks * bsize);
    },
  });
  new Gauge({
    name: "partner_api_data_disk_free_bytes",
    help: "Space that the service can use on the disk of the built-in database",
    registers,
    async collect() {
      const { bavail, bsize } = await statfs(databaseFolder);
      this.set(bavail * bsize);
    },
  });
}
