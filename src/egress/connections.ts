import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { Responsiveness } from "../domain/concurrency-limit.ts";
import type { Destination } from "./destination-url.ts";
import { ANY_SOURCE, type EgressSource } from "./egress-source.ts";
import { OncePerTurn } from "../lib/once-per-turn.ts";
import type { OrganizationId } from "../domain/ids.ts";
import type { Span } from "../lib/tracing.ts";
import { inPhase } from "../delivery/attempt-span.ts";
import { Connection, type ConnectionKeeper } from "./connection.ts";
import type { Deadline } from "./deadline.ts";
import { dial, type Room } from "./dial.ts";
import { handshake } from "./handshake.ts";
import { watchLongTurns } from "./long-turns.ts";
import { SetUps } from "./set-ups.ts";

/** Answers that may still be read after their attempt has ended. The limit keeps slow bodies from piling up. */
export const DRAINING_MAX = 128;

/** Attempts at a receiver that is known to be silent do not wait for connections, and nobody waits for theirs. */
type Waiting = Exclude<Responsiveness, "silent">;

/** What a connection is for. */
interface Purpose<Which = Responsiveness> {
  /** Of the receiver. */
  responsiveness: Which;
  organizationId: OrganizationId | undefined;
  deadline: Deadline;
  /** Of the attempt, if it is traced. */
  span?: Span | undefined;
}

/**
 * All open connections, and those that are free for the next attempt at their host.
 *
 * A free connection is reused only if its peer is among the addresses that were vetted for this attempt. So after a name moves,
 * no attempt uses the connections to its old addresses.
 */
export class Connections implements ConnectionKeeper, Room {
  readonly #secureContext: SecureContext;
  readonly #max: number;
  readonly #source: EgressSource;
  readonly #stopWatching: () => void;
  /** Attempts at responsive receivers do not wait for the others, whose receivers may hang. */
  readonly #setUps: Readonly<Record<Waiting, SetUps>>;
  /** Each organization begins one connection in a turn of the event loop. Its other handshakes would delay everybody else. */
  readonly #begins = new OncePerTurn<OrganizationId | undefined>();
  /** Sockets that are not connected or not secured yet. */
  readonly #dialling = new Set<Socket>();
  readonly #open = new Set<Connection>();
  /** Connections that we destroyed and that are not closed yet. */
  readonly #dropped = new Set<Connection>();
  readonly #draining = new Set<Connection>();
  readonly #idle = new Set<Connection>(); // In the order in which they became idle.
  readonly #idleByHost = new Map<string, Connection[]>();
  #onNoneOpen: (() => void) | undefined;
  #lateMs = 0;

  /**
   * `max` bounds the open sockets. Above it, the connection that has been idle longest is closed. The first socket of an
   * attempt is allowed even if no connection is idle. `waitMs` bounds how long an attempt waits for a connection of others.
   */
  constructor(
    secureContext: SecureContext,
    { max, waitMs, source = ANY_SOURCE }: { max: number; waitMs: number; source?: EgressSource },
  ) {
    this.#secureContext = secureContext;
    this.#max = max;
    this.#source = source;
    this.#setUps = { responsive: new SetUps(waitMs), unknown: new SetUps(waitMs) };
    this.#stopWatching = watchLongTurns((lateMs) => {
      this.#lateMs += lateMs;
      for (const connection of this.#open) connection.breakFlood();
    });
  }

  /** A clock that stops while our thread stands still, so that no receiver is blamed for our pause. */
  get awakeMs(): number {
    return performance.now() - this.#lateMs;
  }

  /** Returns the most recently used free connection that leads to one of the addresses. */
  takeIdle({ hostHeader }: Destination, addresses: readonly string[]): Connection | undefined {
    const idle = this.#idleByHost.get(hostHeader) ?? [];
    for (let last = idle.at(-1); last !== undefined; last = idle.at(-1)) {
      this.#takeOut(last);
      if (last.isOpen && addresses.includes(last.address)) return last;
      last.destroy();
    }
    return undefined;
  }

  /** True if attempts of the same responsiveness set up a connection to the host, or wait for one. */
  isSettingUp({ hostHeader }: Destination, responsiveness: Waiting): boolean {
    return this.#setUps[responsiveness].isBusy(hostHeader);
  }

  /** Waits a little for a free connection. Returns undefined if the attempt should set one up. */
  async waitForIdle(
    destination: Destination,
    addresses: readonly string[],
    { responsiveness, deadline }: Pick<Purpose<Waiting>, "responsiveness" | "deadline">,
  ): Promise<Connection | undefined> {
    await deadline.bound(this.#setUps[responsiveness].turn(destination.hostHeader));
    return this.takeIdle(destination, addresses);
  }

  /** Sets up a connection. Other attempts of the same responsiveness at the host wait for it a little. */
  connect(
    destination: Destination,
    addresses: readonly string[],
    purpose: Purpose<Waiting>,
  ): Promise<Connection> {
    return this.#setUps[purpose.responsiveness].run(destination.hostHeader, () =>
      this.connectAlone(destination, addresses, purpose),
    );
  }

  /** Sets up a connection that no other attempt waits for. */
  async connectAlone(
    destination: Destination,
    addresses: readonly string[],
    { organizationId, responsiveness, deadline, span }: Purpose,
  ): Promise<Connection> {
    if (responsiveness !== "responsive") await deadline.bound(this.#begins.turn(organizationId));
    this.makeRoom();
    const way = { room: this, source: this.#source };
    const { socket, address } = await inPhase(span, "connect", () =>
      dial(addresses, destination.port, deadline, way),
    );
    const secured = await inPhase(span, "tls", () =>
      handshake(socket, destination, this.#secureContext, deadline),
    );
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

  /** Closes the longest idle connection if there is no room. Returns false if none is idle. */
  makeRoom(): boolean {
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
    const { responsive, unknown } = this.#setUps;
    if (!responsive.left(connection.hostHeader)) unknown.left(connection.hostHeader);
  }

  closed(connection: Connection): void {
    this.#open.delete(connection);
    this.#dropped.delete(connection);
    this.#draining.delete(connection);
    if (!this.#takeOut(connection))
      for (const setUps of Object.values(this.#setUps)) setUps.closed(connection.hostHeader);
    if (this.#open.size === 0) this.#onNoneOpen?.();
  }

  /** Resolves when every connection is closed. */
  async close(): Promise<void> {
    this.#stopWatching();
    for (const connection of this.#open) connection.destroy();
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onNoneOpen = resolve;
    });
  }

  /** Returns false if no connection is idle. */
  #dropLongestIdle(): boolean {
    const [longestIdle] = this.#idle;
    if (longestIdle === undefined) return false;
    this.#takeOut(longestIdle); // Now, because the close event comes later.
    this.#dropped.add(longestIdle);
    longestIdle.destroy();
    return true;
  }

  /** Returns false if the connection is not idle. */
  #takeOut(connection: Connection): boolean {
    if (!this.#idle.delete(connection)) return false;
    const idle = this.#idleByHost.get(connection.hostHeader) ?? [];
    idle.splice(idle.lastIndexOf(connection), 1);
    if (idle.length === 0) this.#idleByHost.delete(connection.hostHeader);
    return true;
  }
}
