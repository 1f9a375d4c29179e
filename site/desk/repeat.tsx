import { useState } from "preact/hooks";
import { useAction } from "../console/components/button.tsx";
import { Copy } from "../console/components/copy.tsx";
import { facts, testEvent } from "./service.ts";
import { sign } from "./signature.ts";

interface Sent {
  /** Of the subscription. */
  id: string;
  url: string;
  secret: string;
  eventId: string;
}

/** The request of a test event, as curl, to repeat it against a receiver on a laptop. Browsers sign only on https and on loopback addresses. */
export function Repeat({ of }: { of: Sent }) {
  const [command, setCommand] = useState("");
  const [signAnew] = useAction(async () => setCommand(await asCurl(of, Date.now())));
  if (!isSecureContext) return null;
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && signAnew()}>
      <summary>The request that was sent, as curl, for a receiver on your laptop</summary>
      <p class="quiet">
        Headers and body are those of the first attempt, byte for byte, except for the time and the
        signatures: they are made in this browser whenever you open this, and are valid for five
        minutes. A receiver that has this event already answers 204 and prints nothing.
      </p>
      <div class="commands">
        <pre tabIndex={0}>{command}</pre>
        <Copy text={command} what="the command" />
      </div>
    </details>
  );
}

async function asCurl({ id, url, secret, eventId }: Sent, timestampMs: number): Promise<string> {
  const { event, data } = testEvent;
  const occurred = timeOf(eventId).toISOString();
  const body = JSON.stringify({
    ...{ event, id: eventId, subscription_id: id, occurred_at: occurred, data },
  });
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": facts.userAgent,
    ...(await sign({ secret, eventId, timestampMs, body })),
    "X-VC-Attempt": "1",
  };
  const { pathname, search } = new URL(url);
  const lines = Object.entries(headers).map(([name, value]) => `  -H '${name}: ${value}' \\`);
  return [
    `curl -i 'http://localhost:3000${(pathname + search).replaceAll("'", "%27")}' \\`,
    ...lines,
    `  -d '${body}'`,
  ].join("\n");
}

/** A test event occurred when it was published, and that is the time in its id, a UUIDv7. */
function timeOf(eventId: string): Date {
  const digits = eventId.replace(/^evt_|-/g, "").slice(0, 12);
  return new Date(Number.parseInt(digits, 16));
}
