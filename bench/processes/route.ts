import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify from "fastify";
import { ProblemSchema } from "../../src/http/problem.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import { sendTestEventRoute } from "../../src/subjects/events/partner-routes.ts";
import { publishEventsRoute } from "../../src/subjects/events/routes.ts";
import { meRoute } from "../../src/subjects/keys/partner-routes.ts";
import { createLaterChanges } from "../../src/subjects/operators/changes.ts";
import { answer } from "../support/answer.ts";

/** The service's responses as constants. */
const ANSWERS = new Map<string, object>([
  [
    "/api/v1/partner/me",
    {
      partner_org: "bench-00",
      key_id: "0123456789abcdefghij",
      scopes: ["identity:read", "webhooks:manage"],
      rate_limit_per_minute: 1_000_000,
    },
  ],
  [
    "/api/v1/partner/webhooks/:id/test",
    { event_id: "evt_019bd1f1-0a00-7000-9b1c-5d6e7f809a1b", enqueued: true },
  ],
  [
    "/api/v1/admin/events",
    { event_id: "evt_019bd1f1-0a00-7000-9b1c-5d6e7f809a1b", deliveries: 1, duplicate: false },
  ],
]);

/** Bare Fastify routes with the service's paths and schemas. */
const questions = {
  start: async (): Promise<string> => {
    const app = Fastify().withTypeProvider<TypeBoxTypeProvider>();
    app.addSchema(ProblemSchema);
    app.addHook("onRoute", (route) => {
      const constant = ANSWERS.get(route.url);
      route.handler = () => Promise.resolve(constant);
    });
    app.register(
      (api, _options, done) => {
        meRoute(api);
        sendTestEventRoute(api, NO_DEPENDENCIES);
        done();
      },
      { prefix: "/api/v1/partner" },
    );
    app.register(
      (api, _options, done) => {
        publishEventsRoute(
          api,
          NO_DEPENDENCIES,
          createLaterChanges(NO_DEPENDENCIES, () => undefined),
        );
        done();
      },
      { prefix: "/api/v1/admin" },
    );
    return app.listen({ host: "127.0.0.1", port: 0 });
  },
};

/** No route needs dependencies, because the handlers are replaced. */
const NO_DEPENDENCIES = {} as Dependencies;

export type Route = typeof questions;
answer(questions);
