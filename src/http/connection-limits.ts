import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Crowded } from "../lib/errors.ts";
import { type Link, LinkedList } from "../lib/linked-list.ts";
import type { App } from "./app.ts";
import type { Pipelines } from "./pipelining.ts";

interface Peer {
  socket: Socket;
  requests: number;
  /** True if a request on this connection had a valid key or token. */
  isKnown: boolean;
  /** True if a request is authenticated and has arrived whole. */
  isServed: boolean;
  leave: () => void;
}

/**
 * Limits a listener's connections to `max`. At the limit a new connection replaces another one, so that the load balancer
 * reaches `/readyz`, however many connections strangers open.
 *
 * Idle connections of strangers are closed first, then those of known callers, then those with a request that is incomplete or
 * not authenticated. Of each kind the least recently used goes first. If every connection is being served, the new one is
 * closed.
 */
export function boundConnections(app: App, max: number): void {
  const peers = new Map<Socket, Peer>();
  const idleStrangers = new LinkedList<Peer>();
  const idleCallers = new LinkedList<Peer>();
  const unserved = new LinkedList<Peer>();
  const served = new LinkedList<Peer>();

  app.server.on("connection", (socket: Socket) => {
    if (peers.size >= max) makeRoom();
    if (peers.size >= max) {
      socket.destroy();
      return;
    }
    const peer = { socket, requests: 0, isKnown: false, isServed: false, leave: () => undefined };
    peers.set(socket, peer);
    join(peer);
    socket.once("close", () => forget(peer));
  });
  app.addHook("onRequest", ({ raw: { socket } }, reply, done) => {
    move(socket, (peer) => {
      peer.requests++;
    });
    reply.raw.once("close", () => {
      move(socket, (peer) => {
        peer.requests--;
        peer.isServed = false;
      });
    });
    done();
  });
  // By now the request has arrived whole, and inadmissible ones have been refused.
  app.addHook("preValidation", (request, _reply, done) => {
    if (isAuthenticated(request)) {
      move(request.raw.socket, (peer) => {
        peer.isKnown = peer.isServed = true;
      });
    }
    done();
  });

  function makeRoom(): void {
    for (const list of [idleStrangers, idleCallers, unserved]) {
      for (const peer of list) {
        forget(peer);
        peer.socket.destroy();
        return;
      }
    }
  }

  function listOf({ requests, isKnown, isServed }: Peer): LinkedList<Peer> {
    if (requests === 0) return isKnown ? idleCallers : idleStrangers;
    return isServed ? served : unserved;
  }

  /** Appends the peer to the list of its kind, as the most recently used. */
  function join(peer: Peer): void {
    const list = listOf(peer);
    const link: Link<Peer> = list.append(peer);
    peer.leave = () => list.remove(link);
  }

  function move(socket: Socket, change: (peer: Peer) => void): void {
    const peer = peers.get(socket);
    if (peer === undefined) return;
    peer.leave();
    change(peer);
    join(peer);
  }

  function forget(peer: Peer): void {
    peers.delete(peer.socket);
    peer.leave();
  }
}

function isAuthenticated({
  caller,
  operator,
}: Partial<Pick<FastifyRequest, "caller" | "operator">>): boolean {
  return (caller ?? operator ?? null) !== null;
}

declare module "fastify" {
  interface FastifyReply {
    /** Its entry in the list of open answers, while a client waits for it. */
    openAnswer: Link<FastifyReply> | undefined;
  }
}

const CHECK_MAX_MS = 1_000;

/**
 * Returns the answers that clients wait for, oldest first. Refuses a request after `limitMs`, for example if the database
 * stalls. (The framework's own limit forgets a request once its body is read.) Calls `onAbandoned` if the client has
 * disconnected, because `onResponse` is not called then.
 */
export function watchAnswers(
  app: App,
  limitMs: number,
  onAbandoned: (request: FastifyRequest, reply: FastifyReply) => void,
): Iterable<FastifyReply> {
  const open = new LinkedList<FastifyReply>();

  app.decorateReply("openAnswer");
  app.addHook("onRequest", (request, reply, done) => {
    reply.openAnswer = open.append(reply);
    reply.raw.on("close", () => {
      if (reply.openAnswer === undefined) return;
      leave(reply);
      onAbandoned(request, reply);
    });
    done();
  });
  app.addHook("onResponse", (_request, reply, done) => {
    leave(reply);
    done();
  });

  const timer = setInterval(refuseLate, Math.min(CHECK_MAX_MS, limitMs)).unref();
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    done();
  });
  return open;

  function leave(reply: FastifyReply): void {
    if (reply.openAnswer !== undefined) open.remove(reply.openAnswer);
    reply.openAnswer = undefined;
  }

  function refuseLate(): void {
    for (const reply of open) {
      if (reply.elapsedTime < limitMs) return;
      leave(reply);
      if (reply.sent || reply.raw.destroyed) continue;
      const seconds = Math.ceil(limitMs / 1000);
      void reply.send(new Crowded("The response takes too long: try again.", seconds));
      // The framework warns of what the handler sends later, which is no fault.
      reply.log = reply.log.child({}, { level: "error" });
    }
  }
}

/**
 * While the process drains, the last answer of a connection closes it. The client then connects to another node. Requests that
 * were sent ahead are answered first.
 */
export function sendClientsAway(
  app: App,
  { isStopping, pipelines }: { isStopping: () => boolean; pipelines: Pipelines },
): void {
  app.addHook("onSend", ({ raw }, reply, payload, done) => {
    if (!isStopping()) {
      done(null, payload);
      return;
    }
    // Lets Node read the input that has arrived.
    setImmediate(() => {
      if (pipelines.isLastOn(raw.socket)) reply.raw.setHeader("connection", "close");
      done(null, payload);
    });
  });
}
