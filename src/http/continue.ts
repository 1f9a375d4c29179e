import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "./app.ts";

/**
 * Asks for the body of a client that waits for that (`Expect: 100-continue`) once the client is let in. Whoever is not let
 * in gets the answer alone, and Node ends the connection: nobody knows whether the body still comes.
 */
export function askForBodies(app: App): void {
  const waiting = new WeakSet<IncomingMessage>();

  app.server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    app.server.emit("request", request, response);
  });
  app.addHook("preParsing", (request, reply, _payload, done) => {
    if (waiting.has(request.raw)) reply.raw.writeContinue();
    done();
  });
}
