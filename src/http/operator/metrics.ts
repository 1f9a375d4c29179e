import type { App } from "../app.ts";

/** The metrics as Prometheus reads them. */
export interface Exposition {
  contentType: string;
  body: string;
}

/**
 * `/metrics`, for Prometheus. It takes no token: the listener is the operators' own, scrapers rarely hold secrets,
 * and what it tells are numbers about the process, of no organization in particular.
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
