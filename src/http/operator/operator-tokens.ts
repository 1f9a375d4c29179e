import { createHash, timingSafeEqual } from "node:crypto";
import type { OperatorRole } from "../../domain/operator-role.ts";

export interface OperatorToken {
  /** Who holds it, as the log says it. */
  name: string;
  role: OperatorRole;
  token: string;
}

const BEARER = /^Bearer +(?<token>\S+)$/i;

/** The token that an `Authorization` header holds, or null. */
export function bearerTokenOf(authorization: string | undefined): string | null {
  return BEARER.exec(authorization ?? "")?.groups?.["token"] ?? null;
}

/** Returns whose token this is, or null. It takes the same time for every wrong one. */
export function createTokenCheck(
  tokens: readonly OperatorToken[],
): (token: string) => OperatorToken | null {
  const known = tokens.map((operator) => ({ operator, digest: digestOf(operator.token) }));

  return (token) => {
    const given = digestOf(token);
    // All are compared, also after a match, so that time tells nothing.
    const matching = known.filter(({ digest }) => timingSafeEqual(digest, given));
    return matching[0]?.operator ?? null;
  };
}

/** Digests are of one length, which `timingSafeEqual` insists on. */
function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
