import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { Destination } from "../domain/destination-url.ts";
import { ANY_SOURCE, type EgressSource } from "../domain/egress-source.ts";
import { Connection, type ConnectionKeeper } from "./connection.ts";
import type { Deadline } from "./deadline.ts";
import { dial, type Room } from "./dial.ts";
import { handshake } from "./handshake.ts";
import { watchLongTurns } from "./long-turns.ts";

/** Answers that may still be read after their attempt is over, so that slow bodies cannot pile up. */
export const DRAINING_MAX = 128;

/**
 * Every connection that is open, and which of them are free for the next attempt at their host.
 *
 * A free one is handed out only while its peer is among the addresses vetted for that very attempt:
 * when a name moves, the connections to its old addresses are of no use any more.
 */
export class Connections implements ConnectionKeeper, Room {
  readonly #secureContext: SecureContext;
  readonly #max: number;
  readonly #source: EgressSource;
  readonly #stopWatching: () => void;
  /** Not connected yet, or not secured. */
  readonly #dialling = new Set<Socket>();
  readonly #open = new Set<Connection>();
  /** Closed by us, and still open for a moment. */
  readonly #dropped = new Set<Connection>();
  readonly #draining = new Set<Connection>();
  readonly #idle = new Set<Connection>(); // In the order in which they became idle.
  readonly #idleByHost = new Map<string, Connection[]>();
  #onNoneOpen: (() => void) | undefined;

  /**
   * `max` bounds the sockets that are open: beyond it the connection goes that has been idle for the longest time. An
   * attempt gets its first socket even if none is idle.
   */
  constructor(secureContext: SecureContext, max: number, source = ANY_SOURCE) {
    this.#secureContext = secureContext;
    this.#max = max;
    this.#source = source;
    this.#stopWatching = watchLongTurns(() => {
      for (const connection of this.#open) connection.breakFlood();
    });
  }

  /** The connection that was used last of those that are free and lead to one of the addresses. */
  takeIdle({ hostHeader }: Destination, addresses: readonly string[]): Connection | undefined {
    const idle = this.#idleByHost.get(hostHeader) ?? [];
    for (let last = idle.at(-1); last !== undefined; last = idle.at(-1)) {
      this.#takeOut(last);
      if (last.isOpen && addresses.includes(last.address)) return last;
      last.destroy();
    }
    return undefined;
  }

  async connect(
    destination: Destination,
    addresses: readonly string[],
    deadline: Deadline,
  ): Promise<Connection> {
    this.hasSpare();
    const way = { room: this, source: this.#source };
    const { socket, address } = await dial(addresses, destination.port, deadline, way);
    const secured = await handshake(socket, destination, this.#secureContext, deadline);
    const { hostHeader } = destination;
    const connection = new Connection({ hostHeader, address, socket: secured, raw: socket }, this);
    this.#dialling.delete(socket);
    this.#open.add(connection);
    return connection;
  }

  hold(socket: Socket): void {
    this.#dialling.add(socket);
    socket.once("close", () => this.#dialling.delete(socket));
  }

  /** An idle connection makes room. */
  hasSpare(): boolean {
    return this.#sockets < this.#max || this.#dropLongestIdle();
  }

  get #sockets(): number {
    return this.#dialling.size + this.#open.size - this.#dropped.size;
  }

  draining(connection: Connection): void {
    this.#draining.add(connection);
    if (this.#draining.size <= DRAINING_MAX) return;
    const [slowest] = this.#draining;
    slowest?.destroy();
  }

  idle(connection: Connection): void {
    this.#draining.delete(connection);
    this.#idle.add(connection);
    const idle = this.#idleByHost.get(connection.hostHeader);
    if (idle === undefined) this.#idleByHost.set(connection.hostHeader, [connection]);
    else idle.push(connection);
    if (this.#sockets > this.#max) this.#dropLongestIdle();
  }

  closed(connection: Connection): void {
    this.#open.delete(connection);
    this.#dropped.delete(connection);
    this.#draining.delete(connection);
    this.#takeOut(connection);
    if (this.#open.size === 0) this.#onNoneOpen?.();
  }

  /** Resolves once every connection is closed. */
  async close(): Promise<void> {
    this.#stopWatching();
    for (const connection of this.#open) connection.destroy();
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onNoneOpen = resolve;
    });
  }

  /** False if none is idle. */
  #dropLongestIdle(): boolean {
    const [longestIdle] = this.#idle;
    if (longestIdle === undefined) return false;
    this.#takeOut(longestIdle); // At once: its socket is closed some time later.
    this.#dropped.add(longestIdle);
    longestIdle.destroy();
    return true;
  }

  #takeOut(connection: Connection): void {
    if (!this.#idle.delete(connection)) return;
    const idle = this.#idleByHost.get(connection.hostHeader) ?? [];
    idle.splice(idle.lastIndexOf(connection), 1);
    if (idle.length === 0) this.#idleByHost.delete(connection.hostHeader);
  }
}
