import { Resolver } from "node:dns/promises";
import { SingleFlight } from "../lib/single-flight.ts";
import type { DETAILS } from "./outcome.ts";

/** Why a name has no addresses. Null: for another reason. */
export type LookUpFailure = (typeof DETAILS)["dns_error"][number] | null;

/** Looks up a host name. Never throws. */
export type NameLookup = (host: string) => Promise<LookupResult>;

/**
 * `none`: the name does not exist, has no address, or its name servers fail. `no-resolver`: our resolver does not work.
 * `too-many`: the maximum number of look-ups is in progress, or they are too many for our resolver.
 */
export type LookupResult =
  | { kind: "addresses"; addresses: string[] }
  | { kind: "none"; cause?: LookUpFailure }
  | { kind: "no-resolver" }
  | { kind: "too-many" };

/** Enough for any real name. A name with more addresses could be meant to keep us busy. */
const ADDRESSES_MAX = 256;

/** A look-up that began earlier is too old for a new post. */
const SHARED_FOR_MS = 1_000;

/** These names never exist (RFC 6761, 6.4), so no query is sent. */
const NEVER_EXISTS = /(?:^|\.)invalid$/;

const NO_RESOLVER: LookupResult = { kind: "no-resolver" };
const TOO_MANY: LookupResult = { kind: "too-many" };
const LOOPBACK: LookupResult = { kind: "addresses", addresses: ["127.0.0.1", "::1"] };

/**
 * Look-ups by DNS only, A and AAAA at once. There is no cache. Callers share a look-up while it is in progress, for at most a
 * second. If the look-up of one family fails, the addresses of the other are returned.
 *
 * After silence, SERVFAIL or REFUSED, the result is `none` only if the resolver answers a probe for a well-known name. Otherwise a
 * dead resolver would count against every receiver. It counts as dead only if it has no more than a few look-ups to do.
 *
 * A look-up ends within `timeoutMs`, probe included. This must be shorter than a post, or a dead resolver would look like a
 * timeout of the receiver.
 */
export function createNameLookup(options: {
  /** Each `ip:port`. Undefined: the system's. */
  servers: readonly string[] | undefined;
  timeoutMs: number;
  /** DNS does not know `localhost`. If the operator allows loopback, we answer for it. */
  answerLocalhost: boolean;
  /** Concurrent look-ups. */
  lookUpsMax?: number;
  /** A monotonic clock. */
  nowMs?: () => number;
  /** Shared by all look-ups that ask one resolver. */
  load?: ResolverLoad;
}): { lookup: NameLookup; close: () => void } {
  const probeMs = Math.floor(options.timeoutMs / 3);
  const limitMs = options.timeoutMs - probeMs;
  const servers = new NameServers(limitMs, () => createResolver(options.servers, limitMs));
  const { lookUpsMax: max = Infinity, nowMs = () => performance.now() } = options;
  const { load = new ResolverLoad(nowMs) } = options;
  const sharing = { forMs: SHARED_FOR_MS, nowMs };
  const lookUps = new SingleFlight(find, { max, beyond: TOO_MANY }, sharing);
  let closed = false;

  return { lookup, close };

  async function lookup(host: string): Promise<LookupResult> {
    if (host === "localhost" && options.answerLocalhost) return LOOPBACK;
    if (NEVER_EXISTS.test(host)) return { kind: "none", cause: "no_such_name" };
    if (closed) return NO_RESOLVER;
    return load.isFull ? TOO_MANY : lookUps.ask(host);
  }

  async function find(host: string): Promise<LookupResult> {
    const answers = await load.during(servers.ask(host));
    if (closed) return NO_RESOLVER;

    const addresses = answers.flatMap((answer) => answer.addresses);
    if (addresses.length > ADDRESSES_MAX) return { kind: "none" };
    if (addresses.length > 0) return { kind: "addresses", addresses };

    const none: LookupResult = { kind: "none", cause: causeOf(answers) };
    if (answers.some(({ usable }) => usable)) return none;
    const resolver = load.note(await servers.probe(probeMs));
    if (resolver === "answers") return none;
    return resolver === "dead" ? NO_RESOLVER : TOO_MANY;
  }

  /** Ends all look-ups, present and future, with `no-resolver`. */
  function close(): void {
    closed = true;
    servers.cancel();
  }
}

/** Returns why none of the queries of a look-up found an address. A query without an answer is missing. */
function causeOf(answers: Answer[]): LookUpFailure {
  const codes = answers.map(({ code }) => code);
  if (codes.includes("ENOTFOUND")) return "no_such_name";
  if (codes.some((code) => code !== undefined && !NOTHING_THERE.has(code) && code !== "ETIMEOUT"))
    return "name_servers_failed";
  return codes.length < 2 || codes.includes("ETIMEOUT") ? "look_up_timed_out" : "no_address";
}

/** The result of one query. `usable`: the resolver answered, even if the name does not exist. */
export interface Answer {
  addresses: string[];
  usable: boolean;
  /** The error of the resolver, if there was one. */
  code?: string;
}

const TRIES = 4;

/** How long to wait for one family after the other has addresses, as a share of the limit. */
const GRACE = 0.3;
/** A timer that is this late shows that the process stood still. */
const STANDSTILL_MS = 100;

/** Every working resolver answers for this name, if only with "no such name". */
const WELL_KNOWN = "a.root-servers.net";

/** The minimum time between two replacements of a resolver that does not work. */
const RENEWAL_MS = 1_000;

const NOTHING_THERE = new Set(["ENOTFOUND", "ENODATA"]);

/** `servers` undefined: those of the system. Each wait is at least a quarter of the limit, so we give up before c-ares does. */
export function createResolver(servers: readonly string[] | undefined, limitMs: number): Resolver {
  const resolver = new Resolver({ timeout: Math.ceil(limitMs / 4), tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}

/** Resolvers through c-ares. `dns.lookup` would block the threads of files and crypto. */
export class NameServers {
  readonly #limitMs: number;
  readonly #create: () => Resolver;
  #resolver: Resolver;
  /** It has sockets and time limits of its own, which silent names do not affect. */
  #prober: Resolver;
  #renewedMs = -Infinity;
  #probe: Promise<Answer> | undefined;

  constructor(limitMs: number, create: () => Resolver) {
    this.#limitMs = limitMs;
    this.#create = create;
    this.#resolver = create();
    this.#prober = create();
  }

  /** Queries both families. Returns fewer than two answers if a query was still open at the limit. */
  async ask(host: string): Promise<Answer[]> {
    return new Promise((resolve) => {
      const answers: Answer[] = [];
      const finish = () => {
        clearTimeout(timer);
        resolve([...answers]);
      };
      const dueMs = performance.now() + this.#limitMs;
      const giveUp = () => {
        // Our process stood still. c-ares repeats the query, and we wait for its answer.
        if (performance.now() - dueMs > STANDSTILL_MS)
          timer = setTimeout(finish, this.#limitMs * GRACE);
        else finish();
      };
      let timer = setTimeout(giveUp, this.#limitMs);

      const take = (answer: Answer) => {
        answers.push(answer);
        if (answers.length === 2) finish();
        else if (answer.addresses.length > 0) {
          clearTimeout(timer);
          timer = setTimeout(finish, this.#limitMs * GRACE);
        }
      };
      void answerOf(this.#resolver.resolve4(host)).then(take);
      void answerOf(this.#resolver.resolve6(host)).then(take);
    });
  }

  /** Returns true if the resolver works. Concurrent callers share one query. */
  async probe(limitMs: number): Promise<boolean> {
    this.#probe ??= answerOf(this.#prober.resolve4(WELL_KNOWN)).finally(() => {
      this.#probe = undefined;
    });
    const { usable } = await within(limitMs, this.#probe, { addresses: [], usable: false });
    if (!usable) this.#renew();
    return usable;
  }

  /** A resolver keeps the system's name servers of the time at which it was created. */
  #renew(): void {
    if (performance.now() - this.#renewedMs < RENEWAL_MS) return;
    this.#resolver = this.#create();
    this.#prober = this.#create();
    this.#renewedMs = performance.now();
  }

  /** Cancels all queries. They count as unanswered. */
  cancel(): void {
    this.#resolver.cancel();
    this.#prober.cancel();
  }
}

async function answerOf(question: Promise<string[]>): Promise<Answer> {
  try {
    return { addresses: await question, usable: true };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return { addresses: [], usable: NOTHING_THERE.has(code), code };
  }
}

async function within<T>(limitMs: number, promise: Promise<T>, otherwise: T): Promise<T> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      // Answers that arrived while we stood still are read first. Otherwise our pause would look like a silent resolver.
      setImmediate(() => setImmediate(resolve, otherwise));
    }, limitMs);
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

/** Every resolver takes this many look-ups at once. */
const FEW = 32;
/** For how long a resolver may go on with questions that we have given up. */
const LATE_MS = 30_000;

/**
 * Counts the look-ups that a resolver has in progress. Names with silent servers may be too many for a small one. That must not look
 * like a dead resolver, because strangers choose the names.
 */
export class ResolverLoad {
  readonly #nowMs: () => number;
  #pending = 0;
  #manyMs = -Infinity;
  #hasFailed = false;

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** True after a failed probe while a few look-ups are in progress, so that the resolver can recover or prove to be dead. */
  get isFull(): boolean {
    return this.#hasFailed && this.#pending >= FEW;
  }

  async during<Result>(lookUp: Promise<Result>): Promise<Result> {
    if (++this.#pending > FEW) this.#manyMs = this.#nowMs();
    return lookUp.finally(() => {
      if (this.#pending-- > FEW) this.#manyMs = this.#nowMs();
    });
  }

  /** Takes the result of a probe. */
  note(isAnswered: boolean): "answers" | "crowded" | "dead" {
    this.#hasFailed = !isAnswered;
    if (isAnswered) return "answers";
    return this.#nowMs() - this.#manyMs < LATE_MS ? "crowded" : "dead";
  }
}
