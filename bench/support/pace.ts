import { monotonicMs } from "./monotonic.ts";
import { type Answered, noteStatus, type Target } from "./saturate.ts";
import { openWires, type Wire } from "./wire.ts";

const TICK_MS = 1;

export interface PacePlan extends Target {
  perSecond: number;
  /** Requests of this time are not recorded. */
  warmUpMs: number;
  ms: number;
  /** True to record each request. */
  note: boolean;
}

export interface Paced extends Answered {
  sent: Sent[];
}

export interface Sent {
  /** The event of the service's response. Empty if the response has none. */
  eventId: string;
  at: number;
  /** From when the request was due until its answer was complete. */
  tookMs: number;
}

/**
 * Sends requests at a steady rate, even if the service does not keep up. A request that waits for a
 * free connection counts as sent when it was due, so that a stalled service cannot hide its delay
 * (coordinated omission).
 */
export async function pace(plan: PacePlan): Promise<Paced> {
  const wires = await openWires(plan.url, plan.connections);
  const paced: Paced = { ok: 0, others: 0, sent: [] };
  await new Promise<void>((resolve, reject) => {
    offer(plan, wires, paced, { resolve, reject });
  });
  for (const wire of wires) wire.close();
  return paced;
}

function offer(
  { perSecond, warmUpMs, ms, note, ...plan }: PacePlan,
  wires: Wire[],
  paced: Paced,
  { resolve, reject }: { resolve: () => void; reject: (error: Error) => void },
): void {
  const requests = plan.requests.map((text) => Buffer.from(text));
  const total = Math.round(((warmUpMs + ms) * perSecond) / 1000);
  const began = monotonicMs();
  const free = [...wires];
  const dueAt: number[] = [];
  let sent = 0;

  for (const wire of wires) wire.onFailure = reject;
  const timer = setInterval(tick, TICK_MS);

  function tick(): void {
    const now = monotonicMs();
    const due = Math.min(total, Math.floor(((now - began) * perSecond) / 1000));
    while (dueAt.length < due) dueAt.push(now);
    sendDue();
    if (sent < total || free.length < wires.length) return;
    clearInterval(timer);
    resolve();
  }

  function sendDue(): void {
    while (sent < dueAt.length) {
      const wire = free.shift(); // In turn, so that no connection stays idle for long.
      if (wire === undefined) return;
      send(wire, sent++);
    }
  }

  function send(wire: Wire, nth: number): void {
    const at = dueAt[nth] ?? NaN;
    wire.onAnswer = (status, text) => {
      noteStatus(paced, status);
      if (note && at >= began + warmUpMs) {
        paced.sent.push({ eventId: eventIdIn(text), at, tookMs: monotonicMs() - at });
      }
      free.push(wire);
      sendDue();
    };
    const request = requests[nth % requests.length];
    if (request !== undefined) wire.send(request);
  }
}

function eventIdIn(answer: string): string {
  return /"event_id":"(evt_[0-9a-f-]{36})"/.exec(answer)?.[1] ?? "";
}
