import { Resolver } from "node:dns/promises";

/** What one question came to. `usable`: the resolver did its work, even if it found nothing. */
export interface Answer {
  addresses: string[];
  usable: boolean;
}

const TRIES = 4;

/** How long a family is waited for once the other has addresses, as a share of the limit. */
const GRACE = 0.3;
/** A timer that comes so late says that this process stood still. */
const LATE_MS = 100;

/** A name that every working resolver can answer for, be it with "no such name". */
const WELL_KNOWN = "a.root-servers.net";

/** One that does not work is replaced no more often. */
const RENEWAL_MS = 1_000;

const NOTHING_THERE = new Set(["ENOTFOUND", "ENODATA"]);

/** `servers` undefined: those of the system. The waits are a quarter of the limit or longer: we give up before c-ares does. */
export function createResolver(servers: string[] | undefined, limitMs: number): Resolver {
  const resolver = new Resolver({ timeout: Math.ceil(limitMs / 4), tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}

/** The resolvers that we ask, through c-ares: `dns.lookup` would block files and crypto. */
export class NameServers {
  readonly #limitMs: number;
  readonly #create: () => Resolver;
  #resolver: Resolver;
  #renewedMs = -Infinity;
  #probe: Promise<Answer> | undefined;

  constructor(limitMs: number, create: () => Resolver) {
    this.#limitMs = limitMs;
    this.#create = create;
    this.#resolver = create();
  }

  /** Asks for both families. Fewer than two answers: what was still open at the limit is given up. */
  async ask(host: string): Promise<Answer[]> {
    return new Promise((resolve) => {
      const answers: Answer[] = [];
      const finish = () => {
        clearTimeout(timer);
        resolve([...answers]);
      };
      const dueMs = performance.now() + this.#limitMs;
      const giveUp = () => {
        // We stood still ourselves: c-ares asks anew, and what comes to that is waited for.
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
      void settle(this.#resolver.resolve4(host)).then(take);
      void settle(this.#resolver.resolve6(host)).then(take);
    });
  }

  /** Whether the resolver works at all. Those who ask at the same time share the question. */
  async probe(limitMs: number): Promise<boolean> {
    this.#probe ??= settle(this.#resolver.resolve4(WELL_KNOWN)).finally(() => {
      this.#probe = undefined;
    });
    const { usable } = await within(limitMs, this.#probe, { addresses: [], usable: false });
    if (!usable) this.#renew();
    return usable;
  }

  /** A resolver knows the system's name servers as they were when it was made. */
  #renew(): void {
    if (performance.now() - this.#renewedMs < RENEWAL_MS) return;
    this.#resolver = this.#create();
    this.#renewedMs = performance.now();
  }

  /** Ends every question under way; it then counts as unanswered. */
  cancel(): void {
    this.#resolver.cancel();
  }
}

async function settle(question: Promise<string[]>): Promise<Answer> {
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
      // What came while we stood still is read first: else our pause would be the resolver's silence.
      setImmediate(() => setImmediate(resolve, otherwise));
    }, limitMs);
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
