import type { Carry } from "../commands/operator-api.ts";
import type { Config } from "../config.ts";
import { USER_AGENT } from "./product.ts";

/** A request that publishes 1,000 events, say, may take its time. */
const ANSWER_MS = 30_000;

/** The operator API of a running service. Redirects are not followed: the token is for this server alone. */
export function operatorApiOverHttp(
  { url, token }: NonNullable<Config["operatorApi"]>,
  answerMs = ANSWER_MS,
): Carry {
  return async ({ method, path, body }) => {
    try {
      const answer = await fetch(`${url}/api/v1/admin${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          "x-requested-with": "command-line",
          "user-agent": USER_AGENT,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body ?? null,
        redirect: "error",
        signal: AbortSignal.timeout(answerMs),
      });
      return { status: answer.status, text: await answer.text() };
    } catch (error) {
      throw new Error(`PARTNER_API_URL ${url}: ${reasonOf(error, answerMs)}`, { cause: error });
    }
  };
}

function reasonOf(error: unknown, answerMs: number): string {
  const { name, message, cause } = error as Error;
  if (name === "TimeoutError") return `no answer within ${answerMs / 1000} s`;
  // Of several addresses, the error that holds all of theirs has no message.
  const { message: words, code = "" } = (cause ?? new Error()) as NodeJS.ErrnoException;
  return [words, code, message].find((text) => text !== "") ?? name;
}
