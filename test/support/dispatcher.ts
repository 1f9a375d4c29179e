import type { TestContext } from "node:test";
import { Dispatcher, type DispatcherOptions } from "../../src/queue/dispatcher.ts";
import type { Responsiveness, Signal } from "../../src/queue/rules.ts";
import type { Slots } from "../../src/queue/slots.ts";
import type { Throttled } from "../../src/subjects/deliveries/claims.ts";
import type { Claim } from "../../src/subjects/deliveries/rules.ts";
import { dueOf } from "./due.ts";

interface Settings {
  concurrency?: number;
  subscriptionConcurrency?: number;
  pollIntervalMs?: number;
  /** A subscription that is not active. Its claimed deliveries are cancelled. */
  inactive?: string;
  /** Returns the due subscriptions instead of the queue. */
  scan?: () => Promise<string[]>;
  /** Resolves when the outcome of an attempt is durable. Default: at once. */
  recorded?: Promise<void>;
  /** The host of all subscriptions. Default: a host for each. */
  host?: string;
  signal?: Signal;
  unansweredMs?: number;
  random?: () => number;
  /** The ceilings that a claim finds used up. Default: none. */
  throttled?: () => Throttled[];
  elapsedMs?: () => number;
  /** Default: the dispatcher has its own. */
  slots?: Slots;
  onContended?: DispatcherOptions["onContended"];
  onError?: (error: unknown) => void;
}

/** A queue in memory. The test ends its attempts. */
export function aDispatcher(
  t: TestContext,
  queue: Record<string, number>,
  {
    concurrency = 10,
    subscriptionConcurrency = 10,
    pollIntervalMs = 3_600_000,
    ...but
  }: Settings = {},
) {
  const waiting = new Map(Object.entries(queue));
  const whatIsDue = ({ after, limit }: { after: string | null; limit: number }) => {
    const due = [...waiting].filter(([id, n]) => n > 0 && id > (after ?? "")).map(([id]) => id);
    const page = due.slice(0, limit);
    return { due: dueOf(...page), upTo: due.length > limit ? (page.at(-1) ?? null) : null };
  };
  const inFlight: { subscription: string; responsiveness: Responsiveness; end: () => void }[] = [];
  const deferred: string[] = [];
  let begun: () => void = () => undefined;

  const dispatcher = new Dispatcher({
    listDue: async (page) =>
      but.scan ? { due: dueOf(...(await but.scan())), upTo: null } : whatIsDue(page),
    claim: ({ quotas, limit }) => {
      let left = limit;
      const subscriptionIds = quotas.flatMap(({ subscriptionId, quota }) => {
        const taken = Math.min(quota, left, waiting.get(subscriptionId) ?? 0);
        left -= taken;
        waiting.set(subscriptionId, (waiting.get(subscriptionId) ?? 0) - taken);
        return Array.from({ length: taken }, () => subscriptionId);
      });
      const claims = subscriptionIds
        .filter((id) => id !== but.inactive)
        .map((id) => ({ ...dueOf(id)[0], url: `https://${but.host ?? id}/` }) as Claim);
      const throttled = but.throttled?.() ?? [];
      return Promise.resolve({ claims, subscriptionIds, throttled });
    },
    deliver: async ({ subscriptionId: subscription }, responsiveness = "unknown") => {
      await new Promise<void>((end) => {
        inFlight.push({ subscription, responsiveness, end });
        begun();
      });
      return { signal: but.signal ?? "answered", recorded: but.recorded ?? Promise.resolve() };
    },
    defer: ({ subscriptionId }) => {
      deferred.push(subscriptionId);
      return Promise.resolve();
    },
    onContended: but.onContended ?? (() => undefined),
    concurrency,
    subscriptionConcurrency,
    pollIntervalMs,
    ...(but.slots && { slots: but.slots }),
    ...(but.unansweredMs !== undefined && { unansweredMs: but.unansweredMs }),
    ...(but.random && { random: but.random }),
    ...(but.elapsedMs && { elapsedMs: but.elapsedMs }),
    onError:
      but.onError ??
      ((error) => {
        throw error;
      }),
  });
  t.after(async () => {
    const stopped = dispatcher.stop();
    while (inFlight.length > 0) inFlight.pop()?.end();
    await stopped;
  });

  return {
    dispatcher,
    inFlight,
    deferred,
    add: (id: string, count: number) => waiting.set(id, (waiting.get(id) ?? 0) + count),
    /** Resolves when `count` attempts are in flight. */
    reaches: async (count: number) => {
      while (inFlight.length < count) await new Promise<void>((resolve) => (begun = resolve));
    },
    endOne: (subscription: string) => {
      const index = inFlight.findIndex((a) => a.subscription === subscription);
      inFlight.splice(index, 1)[0]?.end();
    },
  };
}
