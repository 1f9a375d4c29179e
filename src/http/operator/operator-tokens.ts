import { createHash, timingSafeEqual } from "node:crypto";

export interface OperatorToken {
  /** Who holds it, as the log says it. */
  name: string;
  token: string;
}

const BEARER = /^Bearer +(?<token>\S+)$/i;

/** Answers whose token an `Authorization` header holds, or null. Takes the same time for every wrong one. */
export function createTokenCheck(
  tokens: readonly OperatorToken[],
): (authorization: string | undefined) => string | null {
  const known = tokens.map(({ name, token }) => ({ name, digest: digestOf(token) }));

  return (authorization) => {
    const token = BEARER.exec(authorization ?? "")?.groups?.["token"];
    if (token === undefined) return null;
    const given = digestOf(token);
    // All are compared, whichever matches, so that time tells nothing.
    const matching = known.filter(({ digest }) => timingSafeEqual(digest, given));
    return matching[0]?.name ?? null;
  };
}

/** Digests are of one length, which `timingSafeEqual` insists on. */
function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
