import type { FastifyRequest } from "fastify";
import { Crowded } from "../../domain/errors.ts";
import type { App } from "../app.ts";
import { operatorOf } from "./admission.ts";

/**
 * Refuses a request if the bodies that are being read, with its own, would take more than `bytesMax`, or those of its operator
 * more than half of that. A body without a length counts as `bodyMax`. Tokens of publishers have no rate limit, and their bodies
 * are large. The room of a body is kept until its handler ends, even if the client has gone.
 */
export function boundBodies(
  app: App,
  { bytesMax, bodyMax }: { bytesMax: number; bodyMax: number },
): void {
  const open = new Map<FastifyRequest, number>();
  const handled = new WeakSet<FastifyRequest>();
  const byOperator = new Map<string, number>();
  let total = 0;

  app.addHook("onRequest", (request, reply, done) => {
    const bytes = Math.min(Number(request.headers["content-length"] ?? bodyMax), bodyMax);
    const own = byOperator.get(operatorOf(request)) ?? 0;
    if (total + bytes > bytesMax || own + bytes > bytesMax / 2) {
      done(new Crowded("Too many large requests are being read: try again.", 1));
      return;
    }
    open.set(request, bytes);
    change(request, bytes);
    reply.raw.once("close", () => {
      if (!handled.has(request)) leave(request); // The body has not arrived, and never will.
    });
    done();
  });
  app.addHook("preValidation", (request, _reply, done) => {
    handled.add(request);
    done();
  });
  // Unlike onResponse, this runs for a client that has gone, too.
  app.addHook("onSend", (request, _reply, payload, done) => {
    leave(request);
    done(null, payload);
  });

  function leave(request: FastifyRequest): void {
    const bytes = open.get(request);
    if (bytes === undefined) return; // It has left before, or was refused.
    open.delete(request);
    change(request, -bytes);
  }

  /** There are as many operators as tokens. */
  function change(request: FastifyRequest, bytes: number): void {
    const operator = operatorOf(request);
    total += bytes;
    byOperator.set(operator, (byOperator.get(operator) ?? 0) + bytes);
  }
}
