import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "./app.ts";

/**
 * Asks for the body of a client that waits for that (`Expect: 100-continue`) once the client is authenticated.
 * A client that is refused gets only the answer. Node then ends the connection, since the body may still come.
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
