import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../lib/clock.ts";
import { PartnerError } from "../lib/errors.ts";
import { parseAddress, unmapped } from "../lib/ip-address.ts";
import { isUnavailable } from "../postgres/database.ts";
import {
  isUnexpired,
  mayCall,
  maySignIn,
  openSession,
  type OperatorRole,
  type OperatorToken,
  type Session,
} from "../subjects/operators/rules.ts";
import type { HostCheck } from "./build-app.ts";
import { authorizationOf, timesGiven } from "./headers.ts";

export const SESSION_COOKIE = "partner_api_session";

const SEPARATOR = "~";
const SESSIONS_MAX = 8;

/**
 * Returns the sessions of the cookie: ours, and those of installations on other ports of the host, because a browser sends a cookie to
 * all ports. Returns none if there are several cookies, because a neighbouring host may have set one.
 */
export function sessionsOf({ headers }: Pick<IncomingMessage, "headers">): string[] {
  const values = (headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    .map((pair) => pair.slice(SESSION_COOKIE.length + 1));
  return values.length === 1 ? (values[0] ?? "").split(SEPARATOR, SESSIONS_MAX) : [];
}

/** Returns the value for these sessions, the newest first. */
export function joinSessions(sessions: readonly string[]): string {
  return sessions.slice(0, SESSIONS_MAX).join(SEPARATOR);
}

/** Returns the `Set-Cookie` of a session for `seconds`. With 0 it removes the cookie. */
export function sessionCookie(
  value: string,
  { seconds, isSecure }: { seconds: number; isSecure: boolean },
): string {
  const secure = isSecure ? "; Secure" : "";
  return `${SESSION_COOKIE}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

/** Returns true if the browser uses HTTPS, according to the proxy in front of us. */
export function isBehindHttps({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const said = headers["x-forwarded-proto"];
  const [first = ""] = (Array.isArray(said) ? (said[0] ?? "") : (said ?? "")).split(",");
  return first.trim().toLowerCase() === "https";
}

/** The console's header. A page of another site cannot send it without a preflight request. */
const CONSOLE = "console";

/** Refuses a change that does not come from the console, because a browser adds the cookie to requests of other pages, too. */
function refuseCrossSite({ method, headers, raw }: FastifyRequest): void {
  if (method === "GET" || headers["x-requested-with"] === CONSOLE) return;
  const origin = `${isBehindHttps(raw) ? "https" : "http"}://${headers.host ?? ""}`;
  if (headers.host !== undefined && headers.origin === origin) return;
  throw new PartnerError(
    "cross_site",
    "A change with the session cookie needs the header X-Requested-With: console. A program sends a token instead.",
  );
}

/** The most wrong tokens from one source in a window. */
const FAILURES_MAX = 10;
const WINDOW_MS = 60_000;
/** The most sources in memory. Beyond it the one with the oldest window is forgotten. */
const SOURCES_MAX = 10_000;

interface Window {
  openedMs: number;
  count: number;
}

/** Counts wrong tokens by source, in this process. */
export class FailedSignIns {
  readonly #windows = new Map<string, Window>();

  /** Counts one more. Returns if it is above the limit, if it is the first above it, and the seconds until the window ends. */
  count(
    address: string,
    now: Date,
  ): { isTooMany: boolean; isFirst: boolean; resetSeconds: number } {
    const nowMs = now.getTime();
    const window = this.#windowOf(sourceOf(address), nowMs);
    window.count++;
    return {
      isTooMany: window.count > FAILURES_MAX,
      isFirst: window.count === FAILURES_MAX + 1,
      resetSeconds: Math.max(1, Math.ceil((window.openedMs + WINDOW_MS - nowMs) / 1000)),
    };
  }

  /** The number of sources in memory. */
  get size(): number {
    return this.#windows.size;
  }

  #windowOf(source: string, nowMs: number): Window {
    const current = this.#windows.get(source);
    if (current && nowMs < current.openedMs + WINDOW_MS) return current;

    // Deleted first, so that the map stays ordered by the beginning of the windows.
    this.#windows.delete(source);
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= SOURCES_MAX) this.#windows.delete(oldest);

    const opened = { openedMs: nowMs, count: 0 };
    this.#windows.set(source, opened);
    return opened;
  }
}

/** A source is an IPv4 address, or an IPv6 /64, because its holder has all of its addresses. */
function sourceOf(address: string): string {
  const parsed = parseAddress(address);
  if (parsed?.family !== 6 || unmapped(parsed)) return address;
  const [first, second] = parsed.words;
  return `${first}:${second}`;
}

const BEARER = /^Bearer +(?<token>\S+)$/i;

/** Returns the token in an `Authorization` header. Null if there is none. */
export function bearerTokenOf(authorization: string | undefined): string | null {
  return BEARER.exec(authorization ?? "")?.groups?.["token"] ?? null;
}

/** Returns a function that finds the operator of a token, or null. Every wrong token takes the same time. */
export function createTokenCheck(
  tokens: readonly OperatorToken[],
): (token: string) => OperatorToken | null {
  const known = tokens.map((operator) => ({ operator, digest: digestOf(operator.token) }));

  return (token) => {
    const given = digestOf(token);
    // All are compared, even after a match, so that the time reveals nothing.
    const matching = known.filter(({ digest }) => timingSafeEqual(digest, given));
    return matching[0]?.operator ?? null;
  };
}

/** Digests have one length, as `timingSafeEqual` requires. */
function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

declare module "fastify" {
  interface FastifyRequest {
    /** The name of the token. Null until the request is authenticated, and on the partners' listener. */
    operator: string | null;
    /** Set, like `operator`, before the handler of every operator route runs. */
    role: OperatorRole;
    /** Null for a request with a token. */
    session: Session | null;
    /** True if the database could not tell whether the session was ended. Then the answer must hold no stored data. */
    mayHaveEnded: boolean;
  }
  interface FastifyContextConfig {
    /** Tokens with the role `publish` may call this route. */
    servesPublishers?: true;
    /** Tokens with the role `read` may call this route, with any method. */
    servesReaders?: true;
    /**
     * Sessions are accepted even if the database is unavailable and cannot tell the ended ones. The route reads
     * `mayHaveEnded`.
     */
    answersWithoutDatabase?: true;
  }
}

/** Returns the name of the token, in a hook or handler that only authenticated requests reach. */
export function operatorOf({ operator }: Pick<FastifyRequest, "operator">): string {
  if (operator === null) throw new Error("the route serves anyone, so it has no operator");
  return operator;
}

/** Tells the console which actions to offer. */
const ROLE_HEADER = "x-operator-role";

export interface SignIns {
  /** A hook that lets only operators through, before a body is read. */
  authenticate: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Returns the operator whose token may sign in to the console. Throws for any other token. */
  check: (request: FastifyRequest, token: string) => OperatorToken;
  /** Returns the sessions of other installations on this host, which the cookie must keep. */
  foreignSessions: (request: FastifyRequest) => string[];
}

/**
 * Checks operators' tokens and sessions. An address that sends too many wrong tokens has to wait. A right token always passes,
 * so that no one can lock the operators out.
 */
export function createSignIns(
  { clock, hasEnded }: { clock: Clock; hasEnded: (session: Session) => Promise<boolean> },
  tokens: readonly OperatorToken[],
): SignIns {
  const findOperator = createTokenCheck(tokens);
  const failed = new FailedSignIns();

  return {
    authenticate: async (request, reply) => {
      const found = await identify(request);
      const { operator, ...session } = found;
      Object.assign(request, { operator: operator.name, role: operator.role, ...session });
      reply.header(ROLE_HEADER, operator.role);
      requireRole(operator.role, request);
    },
    check: (request, token) => {
      const operator = findOperator(token);
      if (operator === null) throw refusal(request, true);
      if (!maySignIn(operator.role)) throw insufficient(operator.role);
      return operator;
    },
    foreignSessions: ({ raw }) => {
      const now = clock();
      return sessionsOf(raw).filter(
        (value) => isUnexpired(value, now) && openSession(value, tokens, now) === null,
      );
    },
  };

  /** Returns the operator. A token takes precedence over the cookie, because a browser adds the cookie by itself. */
  async function identify(
    request: FastifyRequest,
  ): Promise<{ operator: OperatorToken; session: Session | null; mayHaveEnded: boolean }> {
    if (timesGiven(request.raw, "authorization") > 0) {
      const token = bearerTokenOf(authorizationOf(request.raw));
      const operator = token === null ? null : findOperator(token);
      if (operator === null) throw refusal(request, true);
      return { operator, session: null, mayHaveEnded: false };
    }

    const [opened] = sessionsOf(request.raw).flatMap(
      (value) => openSession(value, tokens, clock()) ?? [],
    );
    if (!opened || !maySignIn(opened.signer.role)) throw refusal(request, false);
    refuseCrossSite(request);
    const isEnded = await isKnownEnded(request, opened.session);
    if (isEnded === true) throw refusal(request, false);
    return { operator: opened.signer, session: opened.session, mayHaveEnded: isEnded === null };
  }

  /** Returns null if the database cannot tell, and the route answers without it. */
  async function isKnownEnded(
    { routeOptions }: FastifyRequest,
    session: Session,
  ): Promise<boolean | null> {
    try {
      return await hasEnded(session);
    } catch (error) {
      if (routeOptions.config.answersWithoutDatabase && isUnavailable(error)) return null;
      throw error;
    }
  }

  /** Only a wrong token counts as a guess. */
  function refusal(request: FastifyRequest, isGuess: boolean): PartnerError {
    const failures = isGuess ? failed.count(request.ip, clock()) : null;
    if (!failures?.isTooMany) {
      return new PartnerError("unauthenticated", "The operator token is missing or wrong.");
    }
    if (failures.isFirst) {
      request.log.warn(
        { remote: request.ip, request_id: request.id },
        "too many wrong operator tokens",
      );
    }
    return new PartnerError(
      "rate_limited",
      `Too many wrong operator tokens came from your address: try again in ${failures.resetSeconds} s.`,
      {
        retryAfter: failures.resetSeconds,
      },
    );
  }
}

function requireRole(role: OperatorRole, { method, routeOptions }: FastifyRequest): void {
  const { servesPublishers = false, servesReaders = false } = routeOptions.config;
  if (mayCall(role, { method, servesPublishers, servesReaders })) return;
  throw insufficient(role);
}

function insufficient(role: OperatorRole): PartnerError {
  return new PartnerError("insufficient_role", `A token with the role ${role} may not do this.`);
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route is served for any `Host`, because a foreign web page may read its answer. */
    answersAnyHost?: true;
  }
}

const ANY = "*";
const HOST = /^(?:\[(?<v6>[^\]]*)\]|(?<name>[^:]*?)\.?)(?::\d*)?$/;

/**
 * Refuses requests for a host that is neither loopback, nor an address, nor allowed. Otherwise a web page could point a name of
 * its own at this listener (DNS rebinding), and the browser would send the session there.
 */
export function createHostCheck(allowed: readonly string[]): HostCheck {
  const names = new Set(["localhost", ...allowed]);

  return ({ headers, routeOptions }) => {
    if (names.has(ANY) || routeOptions.config.answersAnyHost) return undefined;
    const { v6, name = "" } = HOST.exec(headers.host ?? "")?.groups ?? {};
    const isKnown =
      v6 === undefined ? isIP(name) === 4 || names.has(name.toLowerCase()) : isIP(v6) === 6;
    if (isKnown) return undefined;
    return new PartnerError(
      "misdirected_request",
      "The name in the Host header is not allowed. ALLOWED_HOSTS lists the allowed names.",
    );
  };
}
