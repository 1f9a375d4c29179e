import type { FastifyReply, FastifyRequest } from "fastify";
import type { Dependencies } from "../../actions/dependencies.ts";
import { PartnerError } from "../../domain/errors.ts";
import { mayCall, type OperatorRole } from "../../domain/operator-role.ts";
import { authorizationOf } from "../authorization.ts";
import { FailedSignIns } from "./failed-sign-ins.ts";
import { createTokenCheck, type OperatorToken } from "./operator-tokens.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The name of the token that was used. Set before the handler of every operator's route. */
    operator: string;
  }
  interface FastifyContextConfig {
    /** Tokens with the role `publish` may call this route. */
    servesPublishers?: true;
  }
}

/** Tells the console what it can offer. */
const ROLE_HEADER = "x-operator-role";

type Admission = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Lets only operators in, before a body is read. Whoever sends wrong tokens too often is told to wait, but a right
 * token passes even then: nobody can lock the operators out.
 */
export function requireOperator(
  { clock }: Pick<Dependencies, "clock">,
  tokens: readonly OperatorToken[],
): Admission {
  const operatorOf = createTokenCheck(tokens);
  const failed = new FailedSignIns();

  return async (request, reply) => {
    const operator = operatorOf(authorizationOf(request.raw));
    if (operator !== null) {
      request.operator = operator.name;
      reply.header(ROLE_HEADER, operator.role);
      requireRole(operator.role, request);
      return Promise.resolve();
    }

    // Without a token nobody has guessed at one.
    const isGuess = request.headers.authorization !== undefined;
    const failures = isGuess ? failed.count(request.ip, clock()) : null;
    if (!failures?.isTooMany) {
      throw new PartnerError("unauthenticated", "The operator token is missing or wrong.");
    }
    if (failures.isFirst) {
      request.log.warn(
        { remote: request.ip, request_id: request.id },
        "too many wrong operator tokens",
      );
    }
    throw new PartnerError("rate_limited", "Too many wrong operator tokens came from here.", {
      retryAfter: failures.resetSeconds,
    });
  };
}

function requireRole(role: OperatorRole, { method, routeOptions }: FastifyRequest): void {
  const { servesPublishers = false } = routeOptions.config;
  if (mayCall(role, { method, servesPublishers })) return;
  throw new PartnerError("insufficient_role", `A token with the role ${role} may not do this.`);
}
