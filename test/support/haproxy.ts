import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";

export interface Balancer {
  url: string;
  /** Resolves when the balancer sends requests to the node on this port. */
  uses: (port: number) => Promise<void>;
}

/**
 * Runs haproxy on loopback in front of nodes, with the checks of deploy/haproxy/haproxy.cfg. It repeats
 * no request, so a request to a stopped node fails.
 */
export async function startHaproxy(t: TestContext, ports: number[]): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), "haproxy-"));
  const file = join(folder, "haproxy.cfg");
  const port = await freePort();
  await writeFile(file, configuration(port, ports));
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true });
  });

  const url = `http://127.0.0.1:${port}`;
  const states = async () => {
    if (child.exitCode !== null) throw new Error(`haproxy ended with ${child.exitCode}`);
    const answer = await fetch(`${url}/haproxy;csv`).catch(() => null);
    return (await answer?.text()) ?? "";
  };
  const uses = async (node: number) => {
    const isUp = new RegExp(`^nodes,node${node},.*,UP,`, "m");
    while (!isUp.test(await states())) await sleep(20);
  };
  await Promise.all(ports.map(uses));
  return { url, uses };
}

function configuration(port: number, nodes: number[]): string {
  return `
defaults
  mode http
  timeout connect 2s
  timeout check 10s # On a busy machine a node answers late, and is not away.
  timeout client 60s
  timeout server 30s
  no option redispatch
  retries 0
frontend partners
  bind 127.0.0.1:${port}
  stats enable
  stats uri /haproxy
  default_backend nodes
backend nodes
  option httpchk GET /readyz
  default-server check inter 500ms fall 2 rise 1
${nodes.map((node) => `  server node${node} 127.0.0.1:${node}`).join("\n")}
`;
}
