import { Resolver } from "node:dns/promises";

/** The result of one query. `usable`: the resolver answered, even if the name does not exist. */
export interface Answer {
  addresses: string[];
  usable: boolean;
}

const TRIES = 4;

/** How long to wait for one family after the other has addresses, as a share of the limit. */
const GRACE = 0.3;
/** A timer that is this late shows that the process stood still. */
const LATE_MS = 100;

/** Every working resolver answers for this name, if only with "no such name". */
const WELL_KNOWN = "a.root-servers.net";

/** The minimum time between two replacements of a resolver that does not work. */
const RENEWAL_MS = 1_000;

const NOTHING_THERE = new Set(["ENOTFOUND", "ENODATA"]);

/** `servers` undefined: those of the system. Each wait is at least a quarter of the limit, so we give up before c-ares does. */
export function createResolver(servers: string[] | undefined, limitMs: number): Resolver {
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
        if (performance.now() - dueMs > LATE_MS) timer = setTimeout(finish, this.#limitMs * GRACE);
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
    return { addresses: [], usable: NOTHING_THERE.has(code) };
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
