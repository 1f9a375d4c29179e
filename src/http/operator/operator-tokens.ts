import { createHash, timingSafeEqual } from "node:crypto";
import type { OperatorRole } from "../../domain/operator-role.ts";

export interface OperatorToken {
  /** Who holds it, as the log says it. */
  name: string;
  role: OperatorRole;
  token: string;
}

export type Operator = Pick<OperatorToken, "name" | "role">;

const BEARER = /^Bearer +(?<token>\S+)$/i;

/** Answers whose token an `Authorization` header holds, or null. Takes the same time for every wrong one. */
export function createTokenCheck(
  tokens: readonly OperatorToken[],
): (authorization: string | undefined) => Operator | null {
  const known = tokens.map(({ token, ...operator }) => ({ operator, digest: digestOf(token) }));

  return (authorization) => {
    const token = BEARER.exec(authorization ?? "")?.groups?.["token"];
    if (token === undefined) return null;
    const given = digestOf(token);
    // All are compared, whichever matches, so that time tells nothing.
    const matching = known.filter(({ digest }) => timingSafeEqual(digest, given));
    return matching[0]?.operator ?? null;
  };
}

/** Digests are of one length, which `timingSafeEqual` insists on. */
function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
