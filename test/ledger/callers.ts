import { setTimeout as sleep } from "node:timers/promises";
import type { Subscription } from "./partner.ts";
import type { Plan } from "./plan.ts";
import { pick, type Random } from "./random.ts";
import type { Service } from "./services.ts";

/** An event whose caller got a 200. */
export interface Accepted {
  event: string;
  subscription: string;
  /** When the caller had the response. */
  at: number;
}

export interface Called {
  accepted: Accepted[];
  /** The number of requests by status. Requests without a response count as "none". */
  answers: Map<string, number>;
}

const CALLERS = 24;
const PATIENCE_MS = 3_000;
const AFTER_FAILURE_MS = 100;

/** Sends test events at a steady pace to both services, until the planned number is accepted and `isOver` holds. */
export async function call(
  { events, overMs }: Plan,
  random: Random,
  {
    services,
    subscriptions,
  }: { services: readonly Service[]; subscriptions: readonly Subscription[] },
  signal: AbortSignal,
  isOver = () => true,
): Promise<Called> {
  const began = performance.now();
  const called: Called = { accepted: [], answers: new Map() };
  const open = new Set(subscriptions);
  let tickets = 0;
  await Promise.all(Array.from({ length: CALLERS }, () => callInTurn()));
  return called;

  async function callInTurn(): Promise<void> {
    for (let ticket = tickets++; ticket < events || !isOver(); ticket = tickets++) {
      await sleep((ticket / events) * overMs - (performance.now() - began));
      while (!(await isAccepted())) signal.throwIfAborted();
    }
  }

  async function isAccepted(): Promise<boolean> {
    const subscription = pick(random, [...open]);
    const { partnerUrl } = await pick(random, services).ready();
    const { status, event } = await sendTestEvent(partnerUrl, subscription);
    count(called.answers, status);
    if (event !== null) {
      called.accepted.push({ event, subscription: subscription.id, at: Date.now() });
      return true;
    }
    if (status === "404" || status === "409") open.delete(subscription);
    else await sleep(AFTER_FAILURE_MS);
    return false;
  }
}

function count(tally: Map<string, number>, name: string): void {
  tally.set(name, (tally.get(name) ?? 0) + 1);
}

async function sendTestEvent(partnerUrl: string, { id, secret, token }: Subscription) {
  try {
    const response = await fetch(`${partnerUrl}/api/v1/partner/webhooks/${id}/test`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ secret }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const body = (await response.json()) as { event_id?: string };
    const event = response.status === 200 ? (body.event_id ?? null) : null;
    return { status: String(response.status), event };
  } catch {
    return { status: "none", event: null };
  }
}
