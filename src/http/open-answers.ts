import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Busy } from "../domain/errors.ts";
import { type Link, LinkedList } from "../domain/linked-list.ts";
import type { App } from "./app.ts";

declare module "fastify" {
  interface FastifyReply {
    /** Its place among those that clients wait for, as long as one does. */
    openAnswer: Link<FastifyReply> | undefined;
  }
}

const CHECK_MAX_MS = 1_000;

/**
 * Watches over the answers that clients wait for: none takes longer than `limitMs`, as behind a database that neither
 * answers nor refuses, and none that we still work on is cut off when the server closes. (The framework's own limit
 * forgets a request as soon as its body has been read, and Node leaves connections open that become idle only after the
 * closing.) `onAbandoned` hears of those whose client has gone: their `onResponse` never comes.
 */
export function watchAnswers(
  app: App,
  limitMs: number,
  onAbandoned: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  const open = new LinkedList<FastifyReply>();
  const sockets = new Set<Socket>();
  let isClosing = false;

  app.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
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
  app.addHook("onResponse", (request, reply, done) => {
    leave(reply);
    if (isClosing && sockets.has(request.raw.socket)) request.raw.socket.end();
    done();
  });

  const timer = setInterval(refuseLate, Math.min(CHECK_MAX_MS, limitMs)).unref();
  app.addHook("preClose", (done) => {
    isClosing = true;
    releaseIdle();
    done();
  });
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    done();
  });

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
      void reply.send(new Busy("The answer takes too long: try again.", seconds));
    }
  }

  function releaseIdle(): void {
    const busy = new Set<Socket>();
    for (const { raw, request } of open) {
      busy.add(request.raw.socket);
      if (!raw.headersSent) raw.setHeader("connection", "close");
    }
    for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
  }
}
