import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "./app.ts";

/**
 * Asks a client that waits with its body (`Expect: 100-continue`) for it, once the client is authenticated. A refused client
 * gets only the answer. Node then ends the connection, because the body may still come.
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
