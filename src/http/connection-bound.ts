import type { Socket } from "node:net";
import type { FastifyRequest } from "fastify";
import { type Link, LinkedList } from "../lib/linked-list.ts";
import type { App } from "./app.ts";

interface Peer {
  socket: Socket;
  requests: number;
  /** A request on this connection has shown a valid key or token. */
  isKnown: boolean;
  /** One of its requests is authenticated and has arrived whole. */
  isServed: boolean;
  leave: () => void;
}

/**
 * Keeps a listener's connections to `max`, and lets one more in nevertheless: another is closed for it. So a balancer
 * reaches `/readyz`, however many connections strangers open and leave open.
 *
 * Idle connections of strangers go first, then those of known callers, then requests that have not arrived whole or that
 * nobody has authenticated. Of each kind the longest untouched goes first. If every connection is served, the new one is
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
  // The request has arrived whole by now, and has been refused if it must not be sent.
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

  /** Puts it at the end of its kind, as the one that was touched last. */
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
