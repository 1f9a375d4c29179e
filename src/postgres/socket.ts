import { Socket } from "node:net";
import type { Told } from "./renewed.ts";

/** What the driver tells of where the database is: one path, or hosts of which one is the primary. */
export interface Where {
  path?: string | false | undefined;
  host: string[];
  port: number[];
}

/** What a pool is told of a connection, and asked before it is made. */
type PoolTold = Pick<Told, "onbroken" | "mayDial">;

const CHECKS = 4;
/** A server that ends a connection sooner than that is none to write to: away, starting, or a standby. */
const OF_USE_MS = 1_000;

/**
 * Makes the sockets of a pool. One on which nothing has come in for `silenceMs` is destroyed, and what waits for it
 * fails: behind a server that is frozen, or a network that swallows everything, the driver itself would wait for ever.
 * Of several hosts one is dialled until it proves to be of no use: then it is the next one's turn.
 */
export function createSockets(silenceMs: number): (where: Where, pool: PoolTold) => Socket {
  let turn = 0;
  return ({ path, host, port }, { mayDial, onbroken }) => {
    const mine = turn;
    let isDialled = false;
    const began = performance.now();
    const socket = new LetGoSocket(() => {
      const wasOfUse = socket.bytesRead > 0 && performance.now() - began >= OF_USE_MS;
      if (wasOfUse && !hasRested()) onbroken();
      if (isDialled && !wasOfUse && turn === mine) turn = (turn + 1) % host.length;
    });
    // Not before the driver listens: some addresses fail at once.
    setImmediate(() => {
      if (socket.destroyed) return; // To connect it would revive it.
      if (!mayDial()) {
        socket.destroy(failure("no connection is made here any more"));
        return;
      }
      isDialled = true;
      if (path) socket.connect(path);
      else socket.connect(port[mine] ?? 0, host[mine] ?? "");
    });
    failWhenTurnedAway(socket);
    const hasRested = destroyWhenSilent(socket, silenceMs);
    return Object.assign(socket, { host: host[mine] }); // By which the driver names the server in TLS.
  };
}

/**
 * The driver takes every listener away from a socket that it lets go of, and now and then from one that it has just
 * begun to dial with: what fails there is nobody's concern, and must not end the process.
 */
class LetGoSocket extends Socket {
  readonly #onGone: () => void;

  constructor(onGone: () => void) {
    super();
    this.#onGone = onGone;
  }

  /** Whoever is told only of the end that the server makes of it would dial a standby once more. */
  override end(...what: never[]): this {
    this.#onGone();
    return super.end(...(what as []));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#onGone();
    super._destroy(error, done);
  }

  override removeAllListeners(event?: string | symbol): this {
    return super.removeAllListeners(event).on("error", () => undefined);
  }
}

/** A proxy without a server behind it hangs up at once. The driver would dial again and again, and tell nobody. */
function failWhenTurnedAway(socket: Socket): void {
  socket.once("end", () => {
    if (socket.bytesRead > 0) return;
    socket.destroy(failure("the database's address hangs up without a word"));
  });
}

function failure(message: string): Error {
  return Object.assign(new Error(message), { code: "ECONNRESET" });
}

/**
 * Counts bytes and keeps no listener, since the driver takes all of them away where it puts TLS on top. Until the
 * first byte the driver's own limit holds. Answers who knows whether nothing has come since the last look but one: so
 * it is where the driver ends what was idle, and where a statement takes as long.
 */
function destroyWhenSilent(socket: Socket, silenceMs: number): () => boolean {
  let read = 0;
  let silent = 0;
  const timer = setInterval(check, silenceMs / CHECKS).unref();
  return () => silent > 0 && socket.bytesRead === read;

  function check(): void {
    silent = socket.bytesRead === read ? silent + 1 : 0;
    read = socket.bytesRead;
    if (read > 0 && silent >= CHECKS) {
      silent = 0; // It has not rested: somebody waits for an answer, or the driver would have ended it before.
      socket.destroy();
    }
    if (socket.destroyed) clearInterval(timer);
  }
}
