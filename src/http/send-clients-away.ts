import type { App } from "./app.ts";
import type { Turns } from "./turns.ts";

/**
 * While the process drains, the answer to the last request of a connection closes it. A client that keeps connections
 * open then connects anew, to another node. Requests that were sent ahead are all answered first.
 */
export function sendClientsAway(
  app: App,
  { isStopping, turns }: { isStopping: () => boolean; turns: Turns },
): void {
  app.addHook("onSend", ({ raw }, reply, payload, done) => {
    if (!isStopping()) {
      done(null, payload);
      return;
    }
    // Until what has arrived is read.
    setImmediate(() => {
      if (turns.isLastOn(raw.socket)) reply.raw.setHeader("connection", "close");
      done(null, payload);
    });
  });
}
