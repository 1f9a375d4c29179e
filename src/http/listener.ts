import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config/config.ts";
import type { App } from "./app.ts";

/**
 * Opens a listener and returns its base URL. A name stands for its first address. For `localhost` the framework would open two,
 * and connections to the second one would not be bounded.
 */
export async function openListener(app: App, host: string, port: number): Promise<string> {
  try {
    const { address } = await lookup(host);
    return await app.listen({ host: address, port });
  } catch (error) {
    throw cannotListen(host, port, error);
  }
}

/** Throws the error of `openListener` before anything else is opened. */
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

/** The base URL of a configured listener. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The base URL of partners' links: as configured, else where their listener is. */
export class BaseUrl {
  #url: string;
  readonly #isConfigured: boolean;

  constructor({ baseUrl, host, port }: Pick<Config, "baseUrl" | "host" | "port">) {
    this.#url = baseUrl ?? urlOf(host, port);
    this.#isConfigured = baseUrl !== null;
  }

  readonly get = (): string => this.#url;

  /** Call it when the listener is open. Only then is the port known if the configured one is 0. */
  listensAt(url: string): void {
    if (!this.#isConfigured) this.#url = url;
  }
}

/** The same error in plain words. */
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

/** An address that this process listens on. */
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
