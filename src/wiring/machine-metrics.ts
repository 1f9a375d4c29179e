import { statfs } from "node:fs/promises";
import { Gauge, type Registry } from "prom-client";

/** Exposes the disk of the built-in database. */
export function watchDisk(registers: Registry[], databaseFolder: string): void {
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
