import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { INITIAL_LIMIT } from "../../domain/concurrency-limit.ts";
import { operatorOf } from "./admission.ts";
import { operatorProblems } from "./operation.ts";
import { SessionDetail } from "./session-schema.ts";

export function showSessionRoute(app: App, deps: Dependencies): void {
  app.get(
    "/session",
    {
      config: { spread: "merged", answersWithoutDatabase: true },
      schema: {
        operationId: "getSession",
        tags: ["Session"],
        summary: "Show who is signed in",
        description: "The name and the role of the token, and when the session ends.",
        response: { 200: SessionDetail, ...operatorProblems() },
      },
    },
    (request) => ({
      name: operatorOf(request),
      role: request.role,
      expires_at: request.session?.endsAt.toISOString() ?? null,
      auto_disable_after: deps.rules.autoDisableAfter,
      concurrency: concurrencyOf(deps.rules),
    }),
  );
}

function concurrencyOf({
  subscriptionConcurrency: max = INITIAL_LIMIT.attempts,
}: Dependencies["rules"]) {
  return { initial: Math.min(INITIAL_LIMIT.attempts, max), max };
}
