import { Type } from "typebox";
import type { App } from "./app.ts";

export interface HealthChecks {
  /** Returns the checks of this process. `detail` is public, so it holds neither an address nor a secret. */
  ready(): Promise<{ name: string; ok: boolean; detail?: string }[]>;
}

const RETRY_AFTER_SECONDS = 5;

const Report = Type.Object({
  status: Type.String(),
  checks: Type.Array(
    Type.Object({ name: Type.String(), ok: Type.Boolean(), detail: Type.Optional(Type.String()) }),
  ),
});

/** `/healthz`: the process runs. `/readyz`: it can do its work. Neither needs a key. */
export function healthRoutes(app: App, health: HealthChecks): void {
  app.get(
    "/healthz",
    {
      config: { answersAnyHost: true, isProbe: true },
      schema: { hide: true, response: { 200: Type.Object({ status: Type.String() }) } },
    },
    () => ({ status: "ok" }),
  );

  app.get(
    "/readyz",
    {
      config: { answersAnyHost: true, isProbe: true },
      schema: { hide: true, response: { 200: Report, 503: Report } },
    },
    async (_request, reply) => {
      const checks = await health.ready();
      const isReady = checks.every(({ ok }) => ok);
      if (!isReady) void reply.header("retry-after", RETRY_AFTER_SECONDS);
      return reply
        .code(isReady ? 200 : 503)
        .send({ status: isReady ? "ready" : "not ready", checks });
    },
  );
}
