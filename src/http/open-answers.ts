import type { FastifyReply, FastifyRequest } from "fastify";
import { Crowded } from "../domain/errors.ts";
import { type Link, LinkedList } from "../lib/linked-list.ts";
import type { App } from "./app.ts";

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
