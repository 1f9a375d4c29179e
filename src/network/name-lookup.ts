import { SingleFlight } from "../lib/single-flight.ts";
import { createResolver, NameServers } from "./name-servers.ts";

/** Looks a host name up anew. Never throws. */
export type NameLookup = (host: string) => Promise<LookupResult>;

/**
 * `none` is the name's fault: it does not exist, has no address, or those who answer for it fail or
 * keep silent. `no-resolver` is ours: nobody's name could be looked up just now. `too-many` is nobody's:
 * as many look-ups as there may be are under way.
 */
export type LookupResult =
  | { kind: "addresses"; addresses: string[] }
  | { kind: "none" }
  | { kind: "no-resolver" }
  | { kind: "too-many" };

/** Enough for any real name. One with more is taken for an attempt to keep us busy. */
const ADDRESSES_MAX = 256;

/** A look-up that began earlier is too old for an attempt that begins now. */
const SHARED_FOR_MS = 1_000;

/** There is nothing to ask: these names are guaranteed not to exist (RFC 6761, 6.4). */
const NEVER_EXISTS = /(?:^|\.)invalid$/;

const NONE: LookupResult = { kind: "none" };
const NO_RESOLVER: LookupResult = { kind: "no-resolver" };
const TOO_MANY: LookupResult = { kind: "too-many" };
const LOOPBACK: LookupResult = { kind: "addresses", addresses: ["127.0.0.1", "::1"] };

/**
 * Look-ups over DNS alone, A and AAAA at once. Nothing is remembered: callers share a look-up only
 * while it is under way, and for a second at most. A family that cannot be looked up is left out if the other has addresses.
 *
 * A name for which nothing usable came back (silence, SERVFAIL, REFUSED) is `none` only if the
 * resolver answers a probe for a well-known name right afterwards. Otherwise the fault may be ours,
 * and a dead resolver, or one that lost its own network, would be held against every partner.
 *
 * A look-up is over within `timeoutMs`, probe included. That must be less than an attempt may take,
 * or a dead resolver would show as the receiver's timeout.
 */
export function createNameLookup(options: {
  /** `ip:port` each; undefined: those of the system. */
  servers: string[] | undefined;
  timeoutMs: number;
  /** DNS does not know `localhost`. Where the operator allows loopback, we answer for it. */
  answerLocalhost: boolean;
  /** Look-ups under way at once. */
  lookUpsMax?: number;
  /** A monotonic clock. */
  nowMs?: () => number;
}): { lookup: NameLookup; close: () => void } {
  const probeMs = Math.floor(options.timeoutMs / 3);
  const limitMs = options.timeoutMs - probeMs;
  const servers = new NameServers(limitMs, () => createResolver(options.servers, limitMs));
  const { lookUpsMax: max = Infinity, nowMs = () => performance.now() } = options;
  const sharing = { forMs: SHARED_FOR_MS, nowMs };
  const lookUps = new SingleFlight(find, { max, beyond: TOO_MANY }, sharing);
  let closed = false;

  return { lookup, close };

  async function lookup(host: string): Promise<LookupResult> {
    if (host === "localhost" && options.answerLocalhost) return LOOPBACK;
    if (NEVER_EXISTS.test(host)) return NONE;
    return closed ? NO_RESOLVER : lookUps.ask(host);
  }

  async function find(host: string): Promise<LookupResult> {
    const answers = await servers.ask(host);
    if (closed) return NO_RESOLVER;

    const addresses = answers.flatMap((answer) => answer.addresses);
    if (addresses.length > ADDRESSES_MAX) return NONE;
    if (addresses.length > 0) return { kind: "addresses", addresses };

    if (answers.some(({ usable }) => usable)) return NONE;
    return (await servers.probe(probeMs)) ? NONE : NO_RESOLVER;
  }

  /** Ends every look-up under way: each comes to `no-resolver`, as does any that follows. */
  function close(): void {
    closed = true;
    servers.cancel();
  }
}
