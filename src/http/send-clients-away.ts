import type { App } from "./app.ts";
import type { Turns } from "./turns.ts";

/**
 * While the process drains, the last answer of a connection closes it. The client then connects to another node. Requests that
 * were sent ahead are answered first.
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
    // Lets Node read the input that has arrived.
    setImmediate(() => {
      if (turns.isLastOn(raw.socket)) reply.raw.setHeader("connection", "close");
      done(null, payload);
    });
  });
}
