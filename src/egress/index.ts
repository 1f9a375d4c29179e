import { EvenShare } from "../lib/even-share.ts";
import { LinkedList } from "../lib/linked-list.ts";
import type { AddressPolicy } from "./address-policy.ts";
import type { Connection } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { type Refusal, refused, type Vetted, Vetting } from "./destination.ts";
import type { Source } from "./dial.ts";
import { createNameLookup, type NameLookup, ResolverLoad } from "./names.ts";
import { DEFERRED, internalFault, type Outcome, PostFailed, unreachable } from "./outcome.ts";
import { Deadline, inStep, type Post, requestBytes, STOPPED } from "./post.ts";
import { trustedRoots } from "./tls.ts";

export { type Cidr, parseCidr } from "../lib/ip-address.ts";
export type { AddressPolicy } from "./address-policy.ts";
export { DRAINING_MAX } from "./connection-pool.ts";
export { hostOf, type Refusal, URL_LENGTH_MAX, type Vetted } from "./destination.ts";
export type { Source } from "./dial.ts";
export type { LookupResult, NameLookup } from "./names.ts";
export {
  DETAILS,
  type FailureDetail,
  type FailureReason,
  type Fault,
  type Outcome,
} from "./outcome.ts";
export type { EndStep, Post, Responsiveness, Step } from "./post.ts";
export { requireKeyExchanges } from "./tls.ts";

export interface EgressOptions {
  /** Default: public addresses alone. */
  policy?: AddressPolicy;
  /** Name servers, each `ip:port`. Default: the system's. */
  nameServers?: readonly string[] | undefined;
  /** The time limit of a look-up. Must be shorter than a post's, or a dead resolver would look like a timeout of the receiver. */
  lookUpMs?: number;
  /** The limit of concurrent look-ups of posts, and the same for checks. */
  maxLookUps?: number;
  /** Takes the place of look-ups by DNS. */
  lookup?: NameLookup | undefined;
  /** Certificates (PEM) of authorities to trust besides those of Node.js. */
  ca?: string | undefined;
  /** Default: the system chooses the source address. */
  source?: Source;
  /** The limit of open connections, idle ones included. Each running post may open one beyond it. */
  maxConnections?: number;
  /** A monotonic clock. */
  nowMs?: () => number;
}

type LookUps = ReturnType<typeof createNameLookup>;

const PUBLIC_ALONE: AddressPolicy = { allow: [], deny: [] };

/** If the receiver closes the connection later than this after we sent the request, we assume that it read the request. */
const CROSSING_MS = 500;

const OUTCOME_OF_REFUSAL: Record<Exclude<Refusal, "dns_error">, Outcome> = {
  url: unreachable("address_not_public"),
  address_not_public: unreachable("address_not_public"),
  no_resolver: internalFault("no_resolver"),
  too_many_lookups: DEFERRED,
};

/**
 * Posts to URLs that strangers chose, over HTTPS. Connections are kept for later posts to the same host, and reused only if their
 * address was vetted for that post.
 */
export class Egress {
  readonly #vetting: Vetting;
  readonly #ofPosts: LookUps;
  /**
   * A caller can name hosts with silent name servers as fast as it likes. That must not use up the look-ups of posts, or of other
   * groups.
   */
  readonly #ofChecks: LookUps;
  readonly #shares: EvenShare;
  readonly #openConnections: () => ConnectionPool;
  /** Opened by the first post, because they watch the time. Checks need none. */
  #opened: ConnectionPool | undefined;
  readonly #running = new LinkedList<Deadline>();
  #isClosed = false;

  constructor(options: EgressOptions = {}) {
    const { policy = PUBLIC_ALONE, nameServers, lookUpMs = 5_000, maxLookUps = 1_000 } = options;
    const { ca, source, maxConnections = 1_000, nowMs = () => performance.now() } = options;
    const load = new ResolverLoad(nowMs);
    const names = (lookUpsMax: number) =>
      createNameLookup({
        ...{ servers: nameServers, timeoutMs: lookUpMs, lookUpsMax, load, nowMs },
        answerLocalhost: policy.allow.length > 0,
      });
    this.#vetting = new Vetting(policy);
    this.#ofPosts = names(maxLookUps);
    this.#ofChecks = names(Infinity);
    if (options.lookup) this.#ofPosts.lookup = this.#ofChecks.lookup = options.lookup;
    this.#shares = new EvenShare(maxLookUps);
    this.#openConnections = () =>
      new ConnectionPool(trustedRoots(ca), { max: maxConnections, source, nowMs });
  }

  get #connections(): ConnectionPool {
    return (this.#opened ??= this.#openConnections());
  }

  /** Returns whether the URL may be posted to now. Groups share the look-ups evenly. */
  async check(url: string, group = ""): Promise<Vetted> {
    if (!this.#shares.take(group)) return refused("too_many_lookups");
    try {
      return await this.#vetting.vet(url, this.#ofChecks.lookup);
    } finally {
      this.#shares.give(group);
    }
  }

  /** Makes one POST. Resolves within its time limit and never rejects. */
  async post(post: Post): Promise<Outcome> {
    const deadline = new Deadline(post.timeoutMs);
    const link = this.#running.append(deadline);
    const abort = () => deadline.end();
    post.signal?.addEventListener("abort", abort);
    try {
      if (this.#isClosed || post.signal?.aborted === true) throw STOPPED;
      return { kind: "answered", httpStatus: await this.#exchange(post, deadline) };
    } catch (error) {
      deadline.lift();
      if (error instanceof PostFailed) return error.outcome;
      return { kind: "internal-fault", fault: "unexpected", error };
    } finally {
      this.#running.remove(link);
      post.signal?.removeEventListener("abort", abort);
    }
  }

  async #exchange(post: Post, deadline: Deadline): Promise<number> {
    const vetted = await inStep(post, "look-up", () =>
      deadline.bound(this.#vetting.vet(post.url, this.#ofPosts.lookup)),
    );
    if (!vetted.ok)
      throw new PostFailed(
        vetted.refusal === "dns_error"
          ? unreachable("dns_error", vetted.cause)
          : OUTCOME_OF_REFUSAL[vetted.refusal],
      );
    deadline.phase = "connect";
    let request: Uint8Array | undefined;
    const ask = (connection: Connection) =>
      inStep(post, "first byte", (end) =>
        connection.post((request ??= requestBytes(vetted.destination, post)), deadline, end),
      );

    const free = this.#connections.free(vetted, post, deadline);
    const kept = free instanceof Promise ? await free : free; // Later posts must see at once that this one sets up a connection.
    if (kept !== undefined) {
      const sentMs = this.#connections.awakeMs;
      try {
        return await ask(kept);
      } catch (error) {
        if (kept.hasAnswered || this.#connections.awakeMs - sentMs > CROSSING_MS) throw error;
        // The receiver closed the idle connection as we sent. A new one fails at once if the time is over.
      }
    }
    return ask(await this.#connections.connect(vetted, post, deadline));
  }

  /** Ends every post and connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const deadline of this.#running) deadline.end();
    this.#ofPosts.close();
    this.#ofChecks.close();
    await this.#opened?.close();
  }
}
