import { SingleFlight } from "../lib/single-flight.ts";
import { createResolver, NameServers } from "./name-servers.ts";
import { ResolverLoad } from "./resolver-load.ts";

/** Looks up a host name. Never throws. */
export type NameLookup = (host: string) => Promise<LookupResult>;

/**
 * `none`: the name does not exist, has no address, or its name servers fail. `no-resolver`: our resolver does not work.
 * `too-many`: the maximum number of look-ups is in progress, or they are too many for our resolver.
 */
export type LookupResult =
  | { kind: "addresses"; addresses: string[] }
  | { kind: "none" }
  | { kind: "no-resolver" }
  | { kind: "too-many" };

/** Enough for any real name. A name with more addresses could be meant to keep us busy. */
const ADDRESSES_MAX = 256;

/** A look-up that began earlier is too old for a new attempt. */
const SHARED_FOR_MS = 1_000;

/** These names never exist (RFC 6761, 6.4), so no query is sent. */
const NEVER_EXISTS = /(?:^|\.)invalid$/;

const NONE: LookupResult = { kind: "none" };
const NO_RESOLVER: LookupResult = { kind: "no-resolver" };
const TOO_MANY: LookupResult = { kind: "too-many" };
const MEANING = { answers: NONE, crowded: TOO_MANY, dead: NO_RESOLVER };
const LOOPBACK: LookupResult = { kind: "addresses", addresses: ["127.0.0.1", "::1"] };

/**
 * Look-ups by DNS only, A and AAAA at once. There is no cache. Callers share a look-up while it is in progress, for at most a
 * second. If the look-up of one family fails, the addresses of the other are returned.
 *
 * After silence, SERVFAIL or REFUSED, the result is `none` only if the resolver answers a probe for a well-known name. Otherwise a
 * dead resolver would count against every partner. It counts as dead only if it has no more than a few look-ups to do.
 *
 * A look-up ends within `timeoutMs`, probe included. This must be shorter than an attempt, or a dead resolver would look like a
 * timeout of the receiver.
 */
export function createNameLookup(options: {
  /** Each `ip:port`. Undefined: the system's. */
  servers: string[] | undefined;
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
    if (NEVER_EXISTS.test(host)) return NONE;
    if (closed) return NO_RESOLVER;
    return load.isFull ? TOO_MANY : lookUps.ask(host);
  }

  async function find(host: string): Promise<LookupResult> {
    const answers = await load.during(servers.ask(host));
    if (closed) return NO_RESOLVER;

    const addresses = answers.flatMap((answer) => answer.addresses);
    if (addresses.length > ADDRESSES_MAX) return NONE;
    if (addresses.length > 0) return { kind: "addresses", addresses };

    if (answers.some(({ usable }) => usable)) return NONE;
    return MEANING[load.note(await servers.probe(probeMs))];
  }

  /** Ends all look-ups, present and future, with `no-resolver`. */
  function close(): void {
    closed = true;
    servers.cancel();
  }
}
