import { createHash, timingSafeEqual } from "node:crypto";
import type { OperatorToken } from "../../domain/operator-role.ts";

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
