import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config.ts";
import type { App } from "../http/app.ts";

/**
 * Opens a listener and returns its base URL. A name stands for its first address: of `localhost` the framework would
 * open both, and the second one's connections would be without our bounds.
 */
export async function openListener(app: App, host: string, port: number): Promise<string> {
  try {
    const { address } = await lookup(host);
    return await app.listen({ host: address, port });
  } catch (error) {
    throw cannotListen(host, port, error);
  }
}

/** Throws what `openListener` would, before anything else is opened. */
export async function requireListenable(host: string, port: number): Promise<void> {
  try {
    const { address } = await lookup(host);
    const probe = createServer().listen({ host: address, port });
    await once(probe, "listening");
    probe.close();
    await once(probe, "close");
  } catch (error) {
    throw cannotListen(host, port, error);
  }
}

/** The base URL of a listener as it is configured, before it is open. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The same error in words that help. */
export function cannotListen(host: string, port: number, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  const why = WHY.get(code ?? "") ?? (error as Error).message;
  return new Error(`cannot listen on ${host}:${port}: ${why}`, { cause: error });
}

const WHY = new Map([
  ["EADDRINUSE", "the port is in use"],
  ["EACCES", "not allowed"],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["ENOTFOUND", "no such host"],
]);

/** What this process is to listen on. */
export interface Listener {
  of: "partners" | "operators";
  host: string;
  port: number;
}

type Settings = Pick<Config, "role" | "host" | "port" | "operatorHost" | "operatorPort">;

export function listenersOf({
  role,
  host,
  port,
  operatorHost,
  operatorPort,
}: Settings): Listener[] {
  const operators: Listener = { of: "operators", host: operatorHost, port: operatorPort };
  return role === "dispatcher" ? [operators] : [operators, { of: "partners", host, port }];
}
