import { readFile } from "node:fs/promises";

/** A process's current and maximum resident set size in MB. Null without /proc. */
export async function memoryOf(pid: number): Promise<{ nowMb: number; peakMb: number } | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kilobytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]);
  const [now, peak] = [kilobytes("VmRSS"), kilobytes("VmHWM")];
  return Number.isNaN(now) || Number.isNaN(peak)
    ? null
    : { nowMb: now / 1024, peakMb: peak / 1024 };
}
