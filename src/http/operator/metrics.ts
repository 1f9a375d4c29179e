import type { App } from "../app.ts";

/** The metrics in the format of Prometheus. */
export interface Exposition {
  contentType: string;
  body: string;
}

/**
 * `/metrics`, for Prometheus. It needs no token, because the listener is the operators' own, scrapers rarely hold secrets, and
 * the metrics are numbers about the process, not about organizations.
 */
export function metricsRoute(app: App, expose: () => Promise<Exposition>): void {
  const options = {
    config: { answersAnyHost: true, isProbe: true },
    schema: { hide: true },
  } as const;
  app.get("/metrics", options, async (_request, reply) => {
    const { contentType, body } = await expose();
    return reply.type(contentType).send(body);
  });
}
