import { type Becoming, type BridgedEvent, toEvent } from "./event.ts";
import { Unfit } from "./document.ts";
import { halves, Lanes, type Pending } from "./lanes.ts";
import type { SourceMetrics } from "./metrics.ts";
import type { Answer, Publisher } from "./publisher.ts";
import type { BridgeLog, Lag, Message, Source, SourceContext } from "./source.ts";

/** What is received and not settled. Nothing more is read while it is full. */
const BUFFER = { messages: 1_000, bytes: 8 * 1024 * 1024 };
/** One request. */
const BATCH = { max: 500, bytesMax: 3 * 1024 * 1024 };
/** Under way at once, for different lanes. With one, a message would wait for the request before it. */
const REQUESTS = 4;
/** How long a source waits for a message before other work is looked at. */
const RECEIVE_MS = 1_000;
/** So many requests in a row that fail say that the service is away, and not that single organizations are. */
const FAILURES_OF_LANES = 12;
/** So many failures in a row of a server that is starting are no error. They take about 12 s. */
const STARTS = 5;

interface Sending {
  /** When it began. */
  nowMs: number;
  failuresLeft: number;
}

interface Pause {
  isFixed: boolean;
  end: () => void;
}

export interface Delays {
  firstMs: number;
  maxMs: number;
}

const DELAYS: Delays = { firstMs: 500, maxMs: 30_000 };

interface PumpOptions<Own extends Message> {
  open: (context: SourceContext<Own>) => Source<Own>;
  becoming: Becoming;
  publisher: Publisher;
  metrics: SourceMetrics;
  log: BridgeLog;
  now: () => Date;
  delays?: Delays;
}

/**
 * Publishes what a source has, until it is stopped. A message is acknowledged when the service has answered that its event is
 * durable, and never before. Of a lane, one request is in flight at a time, so its order is that of the source.
 */
export class Pump<Own extends Message = Message> {
  readonly source: Source<Own>;
  readonly #options: PumpOptions<Own>;
  readonly #stop = new AbortController();
  readonly #lanes = new Lanes<Own>();
  readonly #sending = new Set<Promise<void>>();
  #published: Pending<Own>[] = [];
  #acknowledging: Promise<void> | null = null;
  readonly #delays: Delays;
  #running: Promise<unknown> | undefined;
  readonly #pauses = new Set<Pause>();
  #asked: Promise<Lag | null> | null = null;
  /** Why the service fails now, or the source as it is read. */
  #problems: { service: string | null; source: string | null } = {
    service: "not reached yet",
    source: "not opened yet",
  };
  /** Why messages cannot be acknowledged or set aside, by what is tried again. */
  readonly #unsettled = new Map<() => Promise<unknown>, string>();
  #failures = 0;
  readonly #totals = { published: 0, set_aside: 0 };
  /** Why the last request failed, until one succeeds. */
  #lastFailure: string | null = null;

  constructor(options: PumpOptions<Own>) {
    this.#options = options;
    this.#delays = options.delays ?? DELAYS;
    const { log, now } = options;
    this.source = options.open({
      stop: this.#stop.signal,
      log,
      now,
      forget: (isLost) => this.#lanes.removeWhere(isLost),
    });
  }

  /** Why the pump does not publish now. Null if it does, or would. */
  get problem(): string | null {
    const [unsettled] = this.#unsettled.values();
    return this.#problems.source ?? unsettled ?? this.#problems.service ?? this.#lastFailure;
  }

  /** Events that were published, and messages that were set aside, since the start. */
  get totals(): Readonly<{ published: number; set_aside: number }> {
    return this.#totals;
  }

  get held(): number {
    return this.#lanes.size;
  }

  /** One question at a time: those that a source is slow to answer would pile up. */
  lag(): Promise<Lag | null> {
    this.#asked ??= this.source.lag().finally(() => (this.#asked = null));
    return this.#asked;
  }

  start(): void {
    this.#running ??= Promise.all([this.#receiveAll(), this.#sendAll()]);
  }

  /** Publishes and acknowledges the messages in flight. Others that were received come again at the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const pause of this.#pauses) pause.end();
    await this.#running;
    await this.#acknowledging;
    await this.source.close();
  }

  async #receiveAll(): Promise<void> {
    for (let failures = 0; !this.#isStopping;) {
      const room = this.#room();
      if (room === 0 || this.#problems.service !== null) {
        await this.#pause(RECEIVE_MS);
        continue;
      }
      try {
        const messages = await this.source.receive(room, RECEIVE_MS);
        this.#problems.source = null;
        failures = 0;
        const unfit = messages.flatMap((message) => this.#take(message) ?? []);
        if (messages.length > 0) this.#nudge();
        for (const { message, reason } of unfit) await this.#setAside(message, reason);
      } catch (error) {
        this.#lanes.removeWhere(() => true);
        this.#problems.source = whyOf(error);
        await this.#complain("source", error, ++failures);
      }
    }
  }

  #room(): number {
    if (this.#lanes.bytes >= BUFFER.bytes) return 0;
    return Math.max(0, Math.min(BATCH.max, BUFFER.messages - this.#lanes.size));
  }

  /** Returns why a message can never be published, which stops none of those behind it. */
  #take(message: Own): { message: Own; reason: string } | null {
    let event: BridgedEvent;
    try {
      event = toEvent(message, this.#options.becoming);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      return { message, reason: error.message };
    }
    this.#lanes.add({ message, event });
    return null;
  }

  async #sendAll(): Promise<void> {
    await this.#untilReached();
    while (!this.#isStopping) {
      if (this.#sending.size === REQUESTS) await this.#pause(RECEIVE_MS);
      else if (!this.#sendNext()) {
        await this.#pause(Math.min(RECEIVE_MS, this.#lanes.nextDueMs() - performance.now()));
      }
      if (this.#problems.service !== null) {
        await Promise.all(this.#sending);
        await this.#untilReached();
      }
    }
    await Promise.all(this.#sending);
  }

  /** Begins to send what is due. Returns false if nothing is. */
  #sendNext(): boolean {
    const nowMs = performance.now();
    const batch = this.#lanes.begin(nowMs, BATCH);
    if (batch.length === 0) return false;
    const sending = this.#send(batch, { nowMs, failuresLeft: FAILURES_OF_LANES }).finally(() => {
      this.#lanes.end(batch);
      this.#sending.delete(sending);
      this.#nudge();
    });
    this.#sending.add(sending);
    return true;
  }

  /** Before the service has answered, nothing is received: brokers count how often a message is returned. */
  async #untilReached(): Promise<void> {
    while (!this.#isStopping) {
      const why = await this.#options.publisher.reach();
      this.#problems.service = why;
      if (why === null) return;
      await this.#complain("service", why, ++this.#failures);
    }
  }

  async #send(batch: readonly Pending<Own>[], sending: Sending): Promise<void> {
    for (const run of tracedApart(batch)) await this.#sendRun(run, sending);
  }

  async #sendRun(all: readonly Pending<Own>[], sending: Sending): Promise<void> {
    const batch = this.#lanes.stillDue(all, sending.nowMs);
    if (batch.length === 0 || this.#isStopping || this.#problems.service !== null) return;
    const startMs = performance.now();
    const answer = await this.#options.publisher.publish(batch.map(({ event }) => event));
    this.#lastFailure = answer.kind === "failed" ? answer.why : null;
    if (answer.kind === "published") {
      sending.failuresLeft = FAILURES_OF_LANES;
      this.#failures = 0;
      this.#acknowledge(batch);
      const { length: events } = batch;
      this.#options.metrics.published(events, answer.duplicates);
      this.#totals.published += events - answer.duplicates;
      const ms = Math.round(performance.now() - startMs);
      this.#options.log.info({ events, duplicates: answer.duplicates, ms }, "published");
    } else if (answer.kind === "refused") {
      await this.#refused(batch, answer, sending);
    } else {
      await this.#failed(batch, answer, sending);
    }
  }

  /** Sets the refused messages aside and sends the others again: of a batch with a fault, nothing was published. */
  async #refused(
    batch: readonly Pending<Own>[],
    { reasons, detail }: Extract<Answer, { kind: "refused" }>,
    sending: Sending,
  ): Promise<void> {
    for (const [index, pending] of batch.entries()) {
      const reason = reasons.get(index) ?? (batch.length === 1 ? detail : null);
      if (reason === null) continue;
      await this.#setAside(pending.message, reason);
      this.#lanes.remove([pending]);
    }
    const others = batch.filter((pending) => !pending.isGone);
    const middle = others.length < batch.length ? others.length : Math.ceil(others.length / 2);
    const parts = [others.slice(0, middle), others.slice(middle)];
    for (const part of parts) await this.#sendRun(part, sending);
  }

  async #failed(
    batch: readonly Pending<Own>[],
    { why, isOfAll, afterMs }: Extract<Answer, { kind: "failed" }>,
    sending: Sending,
  ): Promise<void> {
    this.#options.metrics.failed();
    // The cell of an organization can be away while others answer.
    const parts = isOfAll || !this.#lanes.haveFailed(batch) ? null : halves(batch);
    if (parts !== null && --sending.failuresLeft > 0) {
      for (const part of parts) await this.#sendRun(part, sending);
      return;
    }
    const nowMs = performance.now();
    this.#lanes.hold(batch, (failures) => nowMs + Math.max(afterMs, this.#delayMs(failures)));
    this.#options.log.warn({ events: batch.length, why }, "not published: tried again");
    if (!isOfAll && sending.failuresLeft > 0) return;
    this.#problems.service = why;
    await this.#pause(Math.max(afterMs, this.#delayMs(++this.#failures)), true);
  }

  /** What follows in its lanes does not wait for the acknowledgement. */
  #acknowledge(batch: readonly Pending<Own>[]): void {
    this.#lanes.takeOut(batch);
    this.#published.push(...batch);
    this.#acknowledging ??= this.#acknowledgeAll();
  }

  /** One acknowledgement at a time, each of all that was published meanwhile. */
  async #acknowledgeAll(): Promise<void> {
    while (this.#published.length > 0) {
      const batch = this.#published.splice(0);
      const messages = batch.map(({ message }) => message);
      await this.#insist(() => this.source.acknowledge(messages));
      this.#lanes.settle(batch);
      this.#nudge();
    }
    this.#acknowledging = null;
  }

  async #setAside(message: Own, reason: string): Promise<void> {
    const { metrics, log } = this.#options;
    if ((await this.#insist(() => this.source.setAside(message, reason))) !== true) return;
    metrics.setAside();
    this.#totals.set_aside++;
    log.warn({ message: message.identity, reason }, "set aside");
  }

  /** Repeats until it succeeds or the bridge stops. If it never does, the message comes again and is a duplicate. */
  async #insist<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    let failures = 0;
    do {
      try {
        const result = await work();
        this.#unsettled.delete(work);
        return result;
      } catch (error) {
        this.#unsettled.set(work, whyOf(error));
        await this.#complain("source", error, ++failures);
      }
    } while (!this.#isStopping);
    return undefined;
  }

  async #complain(of: "service" | "source", error: unknown, failures: number): Promise<void> {
    const why = whyOf(error);
    if (this.#isStopping) return;
    const isStarting = of === "source" && failures <= STARTS && this.source.isStarting?.(error);
    this.#options.log[isStarting ? "warn" : "error"](
      { why, failures },
      `the ${of} ${isStarting ? "is starting" : "fails"}: tried again`,
    );
    await this.#pause(this.#delayMs(failures), true);
  }

  /** Doubles from failure to failure. Half of it is random, so that several bridges do not return together. */
  #delayMs(failures: number): number {
    const { firstMs, maxMs } = this.#delays;
    return Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
  }

  get #isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Lets both loops look again. */
  #nudge(): void {
    for (const { isFixed, end } of this.#pauses) if (!isFixed) end();
  }

  /** A nudge ends it, unless it is `isFixed`. The stop ends it in any case. */
  async #pause(ms: number, isFixed = false): Promise<void> {
    if (this.#isStopping) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#pauses.delete(pause);
        resolve();
      };
      const pause = { isFixed, end };
      const timer = setTimeout(end, Math.max(0, Math.min(ms, this.#delays.maxMs * 2)));
      this.#pauses.add(pause);
    });
  }
}

function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A request has one parent, so events of different sampled traces go in requests of their own. */
function tracedApart<Own extends Message>(batch: readonly Pending<Own>[]): Pending<Own>[][] {
  const runs: Pending<Own>[][] = [];
  let last: string | null | undefined;
  for (const pending of batch) {
    const { traceparent } = pending.event;
    const trace = traceparent !== null && isSampled(traceparent) ? traceparent : null;
    if (trace === last) runs.at(-1)?.push(pending);
    else runs.push([pending]);
    last = trace;
  }
  return runs;
}

function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
}
