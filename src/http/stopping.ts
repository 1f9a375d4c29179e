import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import { PartnerError } from "../lib/errors.ts";
import type { App } from "./app.ts";
import { answer } from "./errors.ts";
import type { Pipelines } from "./pipelining.ts";

const STOPPING = new PartnerError("unavailable", "The service is stopping: try again.", {
  retryAfter: 1,
});

/** A connection that was accepted just before a stop has this time to send its request, which is on the way. */
const SILENT_MS = 100;

/**
 * Ends the connections at a stop. A complete request is served, and the last answer of its connection closes it. An incomplete
 * request is refused. A connection without a request is closed, a new one after a moment. (Node leaves those open that become idle
 * after the close.)
 */
export function endConnectionsAtStop(
  app: App,
  open: Iterable<FastifyReply>,
  { baseUrl, pipelines }: { baseUrl: () => string; pipelines: Pipelines },
): void {
  const connections = new Set<Socket>();
  let isStopping = false;

  app.server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    if (isStopping) endSoon([socket]);
  });

  app.addHook("preClose", async () => {
    await setImmediate(); // Lets Node read the input that has arrived.
    isStopping = true;
    app.server.closeIdleConnections();
    end([...connections].filter(({ bytesRead }) => bytesRead > 0));
    endSoon([...connections].filter(({ bytesRead }) => bytesRead === 0));
  });

  /** Destroyed at once, a connection resets: its request may already wait in the kernel, given to us by a parent or a balancer. */
  function endSoon(sockets: Socket[]): void {
    setTimeout(() => end(sockets), SILENT_MS);
  }

  function end(sockets: Socket[]): void {
    const latest = new Map<Socket, FastifyReply>();
    for (const reply of open) latest.set(reply.request.raw.socket, reply);
    for (const socket of sockets.filter((one) => !one.destroyed)) {
      const reply = latest.get(socket);
      if (reply) endWith(reply);
      else if (socket.bytesRead > 0) refuseRest(socket);
      else socket.destroy();
    }
  }

  function endWith(reply: FastifyReply): void {
    const { socket } = reply.request.raw;
    reply.raw.once("finish", () => socket.end());
    if (!reply.raw.headersSent) reply.raw.setHeader("connection", "close");
    if (!reply.request.raw.complete && !reply.sent) void reply.send(STOPPING);
  }

  /** Refuses an incomplete head, and closes the connection. Behind an unread answer it sends no refusal. */
  function refuseRest(socket: Socket): void {
    pipelines.takeLast(socket, () => {
      answer(socket, STOPPING, baseUrl());
      socket.destroySoon();
    });
    if (!socket.writableEnded) socket.destroy();
  }
}
