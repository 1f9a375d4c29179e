import { monotonicMs } from "./monotonic.ts";
import { openWires, type Wire } from "./wire.ts";

export interface Target {
  url: string;
  connections: number;
  /** Raw HTTP requests, sent in turn. */
  requests: string[];
}

/** The number of responses with status 200 or 202 and with any other. */
export interface Answered {
  ok: number;
  others: number;
}

export function noteStatus(answered: Answered, status: string): void {
  if (status === "200" || status === "202") answered.ok++;
  else answered.others++;
}

/** Sends one request after the other on each connection. `perSecond` excludes the warm-up. */
export async function saturate(
  plan: Target & { warmUpMs: number; ms: number },
): Promise<Answered & { perSecond: number }> {
  const requests = plan.requests.map((text) => Buffer.from(text));
  const answered: Answered = { ok: 0, others: 0 };
  const wires = await openWires(plan.url, plan.connections);
  const from = monotonicMs() + plan.warmUpMs;
  const until = from + plan.ms;
  let next = 0;
  let counted = 0;

  await Promise.all(wires.map((wire) => keepBusy(wire)));
  for (const wire of wires) wire.close();
  return { ...answered, perSecond: counted / (plan.ms / 1000) };

  function keepBusy(wire: Wire): Promise<void> {
    return new Promise((resolve, reject) => {
      wire.onFailure = reject;
      wire.onAnswer = (status) => {
        noteStatus(answered, status);
        const now = monotonicMs();
        if (now >= from && now < until) counted++;
        if (now < until) send();
        else resolve();
      };
      send();

      function send(): void {
        const request = requests[next++ % requests.length];
        if (request !== undefined) wire.send(request);
      }
    });
  }
}
