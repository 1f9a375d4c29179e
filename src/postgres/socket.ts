import { Socket } from "node:net";

/** What the driver tells of where the database is: one path, or hosts of which one is the primary. */
export interface Where {
  path?: string | false | undefined;
  host: string[];
  port: number[];
}

const CHECKS = 4;
/** A server that ends a connection sooner than that is none to write to: away, starting, or a standby. */
const OF_USE_MS = 1_000;

/**
 * Makes the sockets of a pool. One on which nothing has come in for `silenceMs` is destroyed, and what waits for it
 * fails: behind a server that is frozen, or a network that swallows everything, the driver itself would wait for ever.
 * Of several hosts one is dialled until it proves to be of no use: then it is the next one's turn.
 */
export function createSockets(silenceMs: number): (where: Where) => Socket {
  let turn = 0;
  return ({ path, host, port }) => {
    const mine = turn;
    const began = performance.now();
    const socket = new LetGoSocket(() => {
      const wasOfUse = socket.bytesRead > 0 && performance.now() - began >= OF_USE_MS;
      if (!wasOfUse && turn === mine) turn = (turn + 1) % host.length;
    });
    // Not before the driver listens: some addresses fail at once.
    setImmediate(() => {
      if (socket.destroyed) return; // To connect it would revive it.
      if (path) socket.connect(path);
      else socket.connect(port[mine] ?? 0, host[mine] ?? "");
    });
    failWhenTurnedAway(socket);
    destroyWhenSilent(socket, silenceMs);
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
    const error = new Error("the database's address hangs up without a word");
    socket.destroy(Object.assign(error, { code: "ECONNRESET" }));
  });
}

/**
 * Counts bytes and keeps no listener, since the driver takes all of them away where it puts TLS on top. Until the
 * first byte the driver's own limit holds.
 */
function destroyWhenSilent(socket: Socket, silenceMs: number): void {
  let read = 0;
  let silent = 0;
  const timer = setInterval(check, silenceMs / CHECKS).unref();

  function check(): void {
    silent = socket.bytesRead === read ? silent + 1 : 0;
    read = socket.bytesRead;
    if (read > 0 && silent >= CHECKS) socket.destroy();
    if (socket.destroyed) clearInterval(timer);
  }
}
