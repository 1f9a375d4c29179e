import type { Carry } from "../commands/operator-api.ts";
import type { Config } from "../config.ts";
import { USER_AGENT } from "./product.ts";

/** A request may take long if it publishes 1,000 events, for example. */
const ANSWER_MS = 30_000;

/** The operator API of a running service. Follows no redirects, because the token is for this server only. */
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
  if (name === "TimeoutError") return `no response within ${answerMs / 1000} s`;
  // If a host has several addresses, the error that holds theirs has no message.
  const { message: words, code = "" } = (cause ?? new Error()) as NodeJS.ErrnoException;
  return [words, code, message].find((text) => text !== "") ?? name;
}
