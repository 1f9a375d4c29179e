import { BoundedCache } from "../lib/bounded-cache.ts";
import type { SubscriptionId } from "../lib/ids.ts";
import {
  afterAnswer,
  afterSilence,
  type ConcurrencyLimit,
  INITIAL_LIMIT,
  type Responsiveness,
  responsivenessOf,
  type Signal,
} from "./rules.ts";

/** Subscriptions and hosts that are remembered. A forgotten one starts afresh. */
const KNOWN_MAX = 20_000;

/** An answer within this time is prompt. */
const PROMPT_MS = 1_000;

/** The state of receivers: the concurrency limit of each subscription, and the hosts that do not answer. */
export class Receivers {
  readonly #max: number;
  readonly #attemptTimeoutMs: number;
  readonly #limits = new BoundedCache<SubscriptionId, ConcurrencyLimit>(KNOWN_MAX);
  readonly #hosts = new BoundedCache<SubscriptionId, string>(KNOWN_MAX);
  readonly #answers = new BoundedCache<string, HostAnswers>(KNOWN_MAX);
  readonly #prompt = new BoundedCache<SubscriptionId, boolean>(KNOWN_MAX);

  /** `max` is the largest limit of a subscription. */
  constructor(max: number, attemptTimeoutMs: number) {
    this.#max = max;
    this.#attemptTimeoutMs = attemptTimeoutMs;
  }

  /** The subscriptions whose limit is below the initial one, with their limits. */
  get slowed(): [SubscriptionId, number][] {
    const known = [...this.#limits].map(([id]): [SubscriptionId, number] => [id, this.limitOf(id)]);
    return known.filter(([, limit]) => limit < Math.min(this.#max, INITIAL_LIMIT.attempts));
  }

  limitOf(id: SubscriptionId): number {
    return Math.min(this.#max, Math.floor((this.#limits.get(id) ?? INITIAL_LIMIT).attempts));
  }

  /** Returns true if the last attempt was answered within a second. */
  isPrompt(id: SubscriptionId): boolean {
    return this.#prompt.get(id) === true;
  }

  responsivenessOf(id: SubscriptionId): Responsiveness {
    return responsivenessOf(this.#limits.get(id) ?? INITIAL_LIMIT);
  }

  /** Returns the subscription's host if it is failing. One that is answered promptly there does not suffer from the others. */
  failingHostOf(id: SubscriptionId): string | null {
    if (this.isPrompt(id)) return null;
    const host = this.#hosts.get(id);
    return host !== undefined && this.isFailing(host) ? host : null;
  }

  isFailing(host: string): boolean {
    return this.#answers.get(host)?.isFailing === true;
  }

  learn(id: SubscriptionId, host: string): void {
    if (this.#hosts.get(id) !== host) this.#hosts.set(id, host);
  }

  note(
    { id, host }: { id: SubscriptionId; host: string },
    signal: Signal,
    at: { inFlight: number; beganMs: number; nowMs: number },
  ): void {
    if (signal === "none") return;
    const isAnswered = signal === "answered";
    this.#answersOf(host).note(isAnswered, at);
    const isPrompt = isAnswered && at.nowMs - at.beganMs <= PROMPT_MS;
    if (this.isPrompt(id) !== isPrompt) this.#prompt.set(id, isPrompt);

    const limit = this.#limits.get(id) ?? INITIAL_LIMIT;
    const next = isAnswered
      ? afterAnswer(limit, { inFlight: at.inFlight, max: this.#max })
      : afterSilence(limit, at);
    if (next !== limit) this.#limits.set(id, next);
  }

  #answersOf(host: string): HostAnswers {
    const known = this.#answers.get(host);
    if (known) return known;
    const answers = new HostAnswers(this.#attemptTimeoutMs);
    this.#answers.set(host, answers);
    return answers;
  }
}

/**
 * Tells whether the attempts at a host are answered.
 *
 * The host is failing if its attempts without an answer used more time of slots than the others, in the last one to two windows.
 * So one path that answers does not excuse many that hang, and one path that hangs does not count against a host that
 * answers many others.
 */
class HostAnswers {
  readonly #windowMs: number;
  #windowEndsMs = -Infinity;
  /** Time without an answer, minus the time of answered attempts. */
  #balanceMs = 0;
  /** The same, in the window before. */
  #beforeMs = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get isFailing(): boolean {
    return this.#balanceMs + this.#beforeMs > 0;
  }

  note(isAnswered: boolean, { beganMs, nowMs }: { beganMs: number; nowMs: number }): void {
    if (nowMs >= this.#windowEndsMs) {
      this.#beforeMs = nowMs < this.#windowEndsMs + this.#windowMs ? this.#balanceMs : 0;
      this.#balanceMs = 0;
      this.#windowEndsMs = nowMs + this.#windowMs;
    }
    const tookMs = Math.max(1, nowMs - beganMs);
    this.#balanceMs += isAnswered ? -tookMs : tookMs;
  }
}
