import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../support/free-port.ts";

export interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

/**
 * Runs a Prometheus on loopback that scrapes the listener of each job every second. Returns a function that runs a query.
 */
export async function startPrometheus(t: TestContext, jobs: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), "prometheus-"));
  const port = await freePort();
  const file = join(folder, "prometheus.yml");
  await writeFile(
    file,
    JSON.stringify({
      global: { scrape_interval: "1s" },
      scrape_configs: Object.entries(jobs).map(([name, url]) => ({
        job_name: name,
        static_configs: [{ targets: [new URL(url).host] }],
      })),
    }),
  );
  const child = spawn(
    "prometheus",
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: "ignore", cwd: folder },
  );
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  });

  return async (query: string): Promise<Sample[]> => {
    const url = `http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query }).toString()}`;
    const response = await fetch(url).catch(() => null);
    if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}`);
    if (response === null || response.status === 503) {
      await delay(50); // Prometheus is starting.
      return [];
    }
    const { data, error } = (await response.json()) as {
      data?: { result: Sample[] };
      error?: string;
    };
    if (!data) throw new Error(`${query}: ${error ?? response.status}`);
    return data.result;
  };
}
