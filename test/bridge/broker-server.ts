import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Afterwards } from "../ledger/afterwards.ts";

/** Runs the server of a broker until the test ends, with the processes that it starts. */
export async function startServer(
  t: Pick<Afterwards, "after">,
  port: number,
  [command, ...args]: readonly [string, ...string[]],
  env: Record<string, string> = {},
): Promise<{ kill: () => Promise<void>; end: () => Promise<void>; begin: () => Promise<void> }> {
  let server = await serve();
  t.after(() => end(server));
  const begin = async () => void (server = await serve());
  return {
    kill: () => end(server).then(begin),
    end: () => end(server),
    begin,
  };

  async function serve(): Promise<ChildProcess> {
    const options = { stdio: "ignore", detached: true, env: { ...process.env, ...env } } as const;
    const child = spawn(command, args, options);
    while (!(await isOpen(port))) {
      if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
      await sleep(100);
    }
    return child;
  }
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.pid === undefined) return;
  const ended = once(server, "exit");
  process.kill(-server.pid, "SIGKILL");
  await ended;
}

export async function isOpen(port: number): Promise<boolean> {
  const socket = createConnection(port, "127.0.0.1");
  const isConnected = await Promise.race([
    once(socket, "connect").then(() => true),
    once(socket, "error").then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return isConnected;
}

/** Both sides of a proxy. */
export function endTogether(t: Pick<Afterwards, "after">, client: Socket, server: Socket): void {
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on("error", () => undefined);
    one.on("close", () => other.destroy());
    t.after(() => void one.destroy());
  }
}
