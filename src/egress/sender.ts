import type { Refusal, Vetted } from "./destination.ts";
import type { Clock } from "../domain/clock.ts";
import type { Destination } from "./destination-url.ts";
import type { EgressSource } from "./egress-source.ts";
import type { Responsiveness } from "../domain/concurrency-limit.ts";
import { LinkedList } from "../lib/linked-list.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { EventId, OrganizationId } from "../domain/ids.ts";
import type { Span } from "../lib/tracing.ts";
import { signatureHeaders } from "../webhook/sign.ts";
import { AttemptFailed, internalFault, unreachable } from "./attempt-failed.ts";
import { inPhase, timePhase } from "../delivery/attempt-span.ts";
import type { Connection } from "./connection.ts";
import { Connections } from "./connections.ts";
import { Deadline } from "./deadline.ts";
import { trustedRoots } from "./handshake.ts";
import { postBytes } from "./post-bytes.ts";

export interface Post {
  url: string;
  eventId: EventId;
  /** As issued, with `whsec_`. */
  signingSecret: string;
  /** Default: one that all share. */
  organizationId?: OrganizationId;
  /** The number of this attempt. The first is number 1. */
  attempt: number;
  /** Sent byte for byte. */
  body: Uint8Array;
  /**
   * Default: `unknown`. An attempt at a `silent` receiver takes no free connection, because it may not leave it to others at its host. An attempt
   * at a `responsive` one waits only for connections that such attempts set up.
   */
  responsiveness?: Responsiveness;
  /** The attempt's, if it is traced. */
  span?: Span;
  /** Whether the receiver gets the span as `traceparent`. */
  tellsReceiver?: boolean;
}

export interface Sender {
  /** Makes one attempt. Resolves within the time limit and never rejects. */
  send(post: Post): Promise<Outcome>;
  /** Ends every attempt and connection. An attempt that it ends is an internal fault. */
  close(): Promise<void>;
}

export interface SenderOptions {
  /** Called for each attempt. Must return in less than `timeoutMs`. */
  check: (url: string) => Promise<Vetted>;
  clock: Clock;
  timeoutMs: number;
  userAgent: string;
  /** Certificates (PEM) of authorities to trust besides the usual ones. */
  extraCa: string | undefined;
  /** The limit of open connections, idle ones included. Each running attempt may open one beyond it. */
  maxConnections: number;
  /** Default: the system chooses the source address. */
  source?: EgressSource;
}

/** If the receiver closes the connection later than this after we sent the request, we assume that it read the request. */
const CROSSING_MS = 500;

/** The part of its time that an attempt may wait while others set up connections to its host. */
const SET_UP_PART = 1 / 20;

const OUTCOME_OF_REFUSAL: Record<Refusal, Outcome> = {
  url: unreachable("address_not_public"),
  address_not_public: unreachable("address_not_public"),
  dns_error: unreachable("dns_error"),
  no_resolver: internalFault("no_resolver"),
  too_many_lookups: { kind: "deferred" },
};

const CLOSED = new AttemptFailed(internalFault("stopping"));

/**
 * Sends signed deliveries over HTTPS. The limit of `timeoutMs` runs from the look-up to the head of the answer. Connections are
 * kept for later attempts at the same host, and reused only if `check` has vetted their address for that attempt.
 */
export function createSender(options: SenderOptions): Sender {
  const { check, clock, timeoutMs, userAgent, extraCa, maxConnections, source } = options;
  const connections = new Connections(trustedRoots(extraCa), {
    max: maxConnections,
    waitMs: timeoutMs * SET_UP_PART,
    ...(source && { source }),
  });
  const inFlight = new LinkedList<Deadline>();
  let isClosed = false;

  return { send, close };

  async function send(post: Post): Promise<Outcome> {
    const deadline = new Deadline(timeoutMs);
    const link = inFlight.append(deadline);
    try {
      if (isClosed) throw CLOSED;
      return await attempt(post, deadline);
    } catch (error) {
      deadline.lift();
      if (error instanceof AttemptFailed) return error.outcome;
      return { kind: "internal-fault", fault: "unexpected", error };
    } finally {
      inFlight.remove(link);
    }
  }

  async function attempt(post: Post, deadline: Deadline): Promise<Outcome> {
    const vetted = await inPhase(post.span, "look-up", () => deadline.bound(check(post.url)));
    if (!vetted.ok) throw new AttemptFailed(OUTCOME_OF_REFUSAL[vetted.refusal]);

    const { destination, addresses } = vetted;
    let signed: Uint8Array | undefined;
    const request = () => (signed ??= sign(post, destination));

    const { organizationId, responsiveness = "unknown", span } = post;
    const purpose = { organizationId, deadline, span };
    if (responsiveness === "silent")
      return exchange(
        await connections.connectAlone(destination, addresses, { ...purpose, responsiveness }),
      );

    const kept =
      connections.takeIdle(destination, addresses) ??
      (connections.isSettingUp(destination, responsiveness)
        ? await connections.waitForIdle(destination, addresses, { responsiveness, deadline })
        : undefined);
    if (kept !== undefined) {
      const sentMs = connections.awakeMs;
      try {
        return await exchange(kept);
      } catch (error) {
        if (kept.hasAnswered || connections.awakeMs - sentMs > CROSSING_MS) throw error;
        // The receiver closed the idle connection as we sent. A new one fails at once if the time is over.
      }
    }
    return exchange(
      await connections.connect(destination, addresses, { ...purpose, responsiveness }),
    );

    async function exchange(connection: Connection): Promise<Outcome> {
      const firstByte = post.span?.child("first byte");
      if (!firstByte) return outcomeOf(await connection.post(request(), deadline));
      const onFirstByte = () => firstByte.end();
      const answered = () => connection.post(request(), deadline, onFirstByte);
      return outcomeOf(await timePhase(firstByte, answered));
    }
  }

  /** Call it as late as possible, because receivers compare the timestamp with their own clock. */
  function sign(post: Post, destination: Destination): Uint8Array {
    const { signingSecret, eventId, attempt, body, span, tellsReceiver } = post;
    const timestampMs = clock().getTime();
    const signatures = signatureHeaders({ signingSecret, eventId, timestampMs, body });
    const headers = {
      "Content-Type": "application/json",
      "User-Agent": userAgent,
      ...signatures,
      "X-VC-Attempt": String(attempt),
      ...(span && tellsReceiver === true && { traceparent: span.traceparent }),
    };
    return postBytes(destination, headers, body);
  }

  async function close(): Promise<void> {
    isClosed = true;
    for (const deadline of inFlight) deadline.end(CLOSED);
    await connections.close();
  }
}

function outcomeOf(httpStatus: number): Outcome {
  const isAcknowledged = httpStatus >= 200 && httpStatus < 300;
  return { kind: isAcknowledged ? "acknowledged" : "refused", httpStatus };
}
