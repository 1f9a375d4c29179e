import type { FastifyReply, FastifyRequest } from "fastify";
import { isUnavailable } from "../../postgres/database.ts";
import type { Clock } from "../../domain/clock.ts";
import { PartnerError } from "../../domain/errors.ts";
import { mayCall, maySignIn, type OperatorRole, type OperatorToken } from "../../domain/operator-role.ts";
import { isUnexpired, openSession, type Session } from "../../domain/session.ts";
import { timesGiven, authorizationOf } from "../raw-headers.ts";
import { refuseCrossSite } from "./cross-site.ts";
import { FailedSignIns } from "./failed-sign-ins.ts";
import { bearerTokenOf, createTokenCheck } from "./operator-tokens.ts";
import { sessionsOf } from "./session-cookie.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The name of the token. Null until the request is admitted, and on the partners' listener. */
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
     * Sessions are admitted even if the database is unavailable and cannot tell the ended ones. The route reads
     * `mayHaveEnded`.
     */
    answersWithoutDatabase?: true;
  }
}

/** Returns the name of the token, in a hook or handler that only admitted requests reach. */
export function operatorOf({ operator }: Pick<FastifyRequest, "operator">): string {
  if (operator === null) throw new Error("the route admits anyone, so it has no operator");
  return operator;
}

/** Tells the console which actions to offer. */
const ROLE_HEADER = "x-operator-role";

export interface SignIns {
  /** A hook that admits only operators, before a body is read. */
  admit: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
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
    admit: async (request, reply) => {
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
