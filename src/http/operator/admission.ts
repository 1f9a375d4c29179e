import type { FastifyRequest } from "fastify";
import type { Dependencies } from "../../actions/dependencies.ts";
import { PartnerError } from "../../domain/errors.ts";
import { authorizationOf } from "../authorization.ts";
import { FailedSignIns } from "./failed-sign-ins.ts";
import { createTokenCheck, type OperatorToken } from "./operator-tokens.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The name of the token that was used. Set before the handler of every operator's route. */
    operator: string;
  }
}

type Admission = (request: FastifyRequest) => Promise<void>;

/**
 * Lets only operators in, before a body is read. Whoever sends wrong tokens too often is told to wait, but a right
 * token passes even then: nobody can lock the operators out.
 */
export function requireOperator(
  { clock }: Pick<Dependencies, "clock">,
  tokens: readonly OperatorToken[],
): Admission {
  const nameOf = createTokenCheck(tokens);
  const failed = new FailedSignIns();

  return async (request) => {
    const name = nameOf(authorizationOf(request.raw));
    if (name !== null) {
      request.operator = name;
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
