import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { BoundedCache } from "../lib/bounded-cache.ts";
import { OncePerIteration } from "../lib/once-per-iteration.ts";
import { Tally } from "../lib/tally.ts";
import { Connection, type ConnectionKeeper } from "./connection.ts";
import type { Vetted } from "./destination.ts";
import { dial, type Room, type Source } from "./dial.ts";
import { type Deadline, inStep, type Post } from "./post.ts";
import { handshake } from "./tls.ts";

/** Answers that may still be read after their post has ended. The limit keeps slow bodies from piling up. */
export const DRAINING_MAX = 128;

/** The part of its time that a post may wait while others set up connections to its host. */
const WAITING_PART = 1 / 20;

/** Hosts that are remembered because they close their connections. */
const CLOSING_MAX = 20_000;

/** Where a post goes. */
type Target = Pick<Vetted & { ok: true }, "destination" | "addresses">;

interface ConnectionsOptions {
  max: number;
  source?: Source | undefined;
  /** A monotonic clock. */
  nowMs?: () => number;
}

/**
 * All open connections, and those that are free for the next post to their host.
 *
 * A free connection is reused only if its peer is among the addresses that were vetted for this post. So after a name moves, no post
 * uses the connections to its old addresses.
 */
export class ConnectionPool implements ConnectionKeeper, Room {
  readonly #secureContext: SecureContext;
  readonly #max: number;
  readonly #source: Source | undefined;
  readonly #stopWatching: () => void;
  /** Posts to responsive receivers do not wait for the others, whose receivers may hang. Nobody waits for those to silent ones. */
  readonly #setUps = { responsive: new SetUps(), unknown: new SetUps() };
  /** Each group begins one connection in an iteration of the event loop. Its other handshakes would delay everybody else. */
  readonly #begins = new OncePerIteration<string | undefined>();
  /** Sockets that are not connected or not secured yet. */
  readonly #dialling = new Set<Socket>();
  readonly #open = new Set<Connection>();
  /** Connections that we destroyed and that are not closed yet. */
  readonly #dropped = new Set<Connection>();
  readonly #draining = new Set<Connection>();
  readonly #idle = new Set<Connection>(); // In the order in which they became idle.
  readonly #idleByHost = new Map<string, Connection[]>();
  #onNoneOpen: (() => void) | undefined;
  readonly #nowMs: () => number;
  #lateMs = 0;

  /**
   * `max` bounds the open sockets. Above it, the connection that has been idle longest is closed. The first socket of a post is
   * allowed even if no connection is idle.
   */
  constructor(
    secureContext: SecureContext,
    { max, source, nowMs = () => performance.now() }: ConnectionsOptions,
  ) {
    this.#secureContext = secureContext;
    this.#max = max;
    this.#source = source;
    this.#nowMs = nowMs;
    this.#stopWatching = watchLongIterations((lateMs) => {
      this.#lateMs += lateMs;
      for (const connection of this.#open) connection.breakFlood();
    });
  }

  /** A clock that stops while our thread stands still, so that no receiver is blamed for our pause. */
  get awakeMs(): number {
    return this.#nowMs() - this.#lateMs;
  }

  /** Returns a free connection, after a short wait if others set one up. Undefined if the post should set one up. */
  free(
    target: Target,
    { responsiveness = "unknown" }: Post,
    deadline: Deadline,
  ): Connection | undefined | Promise<Connection | undefined> {
    if (responsiveness === "silent") return undefined;
    const { hostHeader } = target.destination;
    const setUps = this.#setUps[responsiveness];
    const free = this.#takeIdle(target);
    if (free !== undefined || !setUps.isBusy(hostHeader)) return free;
    const wait = setUps.waitFor(hostHeader, deadline.ms * WAITING_PART);
    return deadline.bound(wait).then(() => this.#takeIdle(target));
  }

  /** Sets up a connection. Others wait for it a little, unless the receiver is silent. */
  connect(target: Target, post: Post, deadline: Deadline): Promise<Connection> {
    const setUp = () => this.#connect(target, post, deadline);
    if (post.responsiveness === "silent") return setUp();
    return this.#setUps[post.responsiveness ?? "unknown"].run(target.destination.hostHeader, setUp);
  }

  async #connect(target: Target, post: Post, deadline: Deadline): Promise<Connection> {
    const { destination, addresses } = target;
    if (post.responsiveness !== "responsive") await deadline.bound(this.#begins.next(post.group));
    this.makeRoom();
    const { socket, address } = await inStep(post, "connect", () =>
      dial(addresses, destination.port, deadline, { room: this, source: this.#source }),
    );
    deadline.phase = "handshake";
    const secured = await inStep(post, "tls", () =>
      handshake(socket, destination, this.#secureContext, deadline),
    );
    const { hostHeader } = destination;
    const connection = new Connection({ hostHeader, address, socket: secured, raw: socket }, this);
    this.#dialling.delete(socket);
    this.#open.add(connection);
    return connection;
  }

  /** Returns the most recently used free connection that leads to one of the addresses. */
  #takeIdle({ destination, addresses }: Target): Connection | undefined {
    const idle = this.#idleByHost.get(destination.hostHeader) ?? [];
    for (let last = idle.at(-1); last !== undefined; last = idle.at(-1)) {
      this.#takeOut(last);
      if (last.isOpen && addresses.includes(last.address)) return last;
      last.destroy();
    }
    return undefined;
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

/**
 * Lets the posts to a host wait for each other's connections, because to set one up costs more than ten requests. Otherwise a
 * dispatcher that begins with a backlog would set up one for each post, although most could use one that another has left.
 */
export class SetUps {
  readonly #running = new Tally<string>();
  /** The posts to a host that wait, longest wait first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Hosts whose last connection was closed after its request. */
  readonly #closing = new BoundedCache<string, boolean>(CLOSING_MAX);

  /** Returns true if another post sets up a connection to the host, or waits for one, and may leave it to the next. */
  isBusy(host: string): boolean {
    if (this.#closing.get(host) === true) return false;
    return this.#running.of(host) > 0 || this.#waiting.has(host);
  }

  /** Resolves when another post has left a connection or got none. Or after `waitMs`, because the receiver may be slow. */
  waitFor(host: string, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(host) ?? new Set();
      const go = () => {
        if (!waiting.delete(go)) return;
        clearTimeout(timer);
        if (waiting.size === 0) this.#waiting.delete(host);
        resolve();
      };
      const timer = setTimeout(go, waitMs).unref();
      this.#waiting.set(host, waiting.add(go));
    });
  }

  async run<Result>(host: string, setUp: () => Promise<Result>): Promise<Result> {
    this.#running.add(host);
    const beganMs = performance.now();
    try {
      const result = await setUp();
      this.#wakeNextAfter(host, performance.now() - beganMs);
      return result;
    } catch (error) {
      this.#wakeNext(host);
      throw error;
    } finally {
      this.#running.remove(host);
    }
  }

  /** Call it when a post has left its connection to the next. Returns false if none waits for it. */
  left(host: string): boolean {
    if (this.#closing.get(host) === true) this.#closing.set(host, false);
    return this.#wakeNext(host);
  }

  /** Call it when a connection was closed after its request. */
  closed(host: string): void {
    if (this.#closing.get(host) !== true) this.#closing.set(host, true);
    for (const go of this.#waiting.get(host) ?? []) go();
  }

  /** If a connection is not left after as long as its set-up took, the receiver may hang. Then the next post sets one up. */
  #wakeNextAfter(host: string, tookMs: number): void {
    const [longest] = this.#waiting.get(host) ?? [];
    if (longest) setTimeout(longest, tookMs).unref();
  }

  /** Returns false if none waits. */
  #wakeNext(host: string): boolean {
    const [longest] = this.#waiting.get(host) ?? [];
    longest?.();
    return longest !== undefined;
  }
}

const TICK_MS = 50;
const LATE_MS = 50;

/**
 * Calls `look` after each long iteration of the event loop, before the input that arrived meanwhile is read, with how late the
 * iteration is. Returns the function that stops it.
 */
export function watchLongIterations(look: (lateMs: number) => void): () => void {
  let dueMs = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - dueMs > LATE_MS) look(now - dueMs);
    dueMs = now + TICK_MS;
  }, TICK_MS).unref();
  return () => clearInterval(timer);
}
