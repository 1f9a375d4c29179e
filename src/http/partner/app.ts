import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { type AppOptions, buildApp } from "../build-app.ts";
import { type AboutService, contactOf, NO_ABOUT } from "../docs/about-service.ts";
import { type Desk, deskRoutes } from "../docs/desk.ts";
import { docsRoutes } from "../docs/routes.ts";
import { BUILT_SITE } from "../docs/site.ts";
import { type HealthChecks, healthRoutes } from "../health.ts";
import { openApiRoute } from "../openapi.ts";
import { guardRoutes } from "./admission.ts";
import { createSubscriptionRoute } from "./create-subscription.ts";
import { deleteSubscriptionRoute } from "./delete-subscription.ts";
import { listFailuresRoute } from "./list-failures.ts";
import { listSubscriptionsRoute } from "./list-subscriptions.ts";
import { meRoute } from "./me.ts";
import { PARTNER_DOCUMENT } from "./document.ts";
import { sendTestEventRoute } from "./send-test-event.ts";
import { webhooksOf } from "./webhooks.ts";

export interface PartnerAppOptions extends AppOptions {
  health: HealthChecks;
  /** The folder of the built documentation. Default: ours. */
  docs?: URL;
  /** Default: the documentation has no information of its operator. */
  about?: AboutService;
  /** Default: partners have no page. */
  desk?: Desk | null;
}

/** Builds the partners' listener. Until it listens, more routes may be added. */
export function buildPartnerApp(
  deps: Dependencies,
  { health, docs = BUILT_SITE, about = NO_ABOUT, desk = null, ...options }: PartnerAppOptions,
): App {
  const app = buildApp(options);
  const { eventTypes } = deps;
  healthRoutes(app, health);
  if (desk) deskRoutes(app, docs, desk, { baseUrl: options.baseUrl, eventTypes });
  docsRoutes(app, docs, { baseUrl: options.baseUrl, eventTypes, about });
  app.register(
    async (api: App) => {
      openApiRoute(api, PARTNER_DOCUMENT, {
        baseUrl: options.baseUrl,
        contact: contactOf(about),
        events: webhooksOf(eventTypes),
      });
      await api.after(); // The document includes the routes from here on.
      partnerRoutes(api, deps);
    },
    { prefix: "/api/v1/partner" },
  );
  return app;
}

/** The endpoints of the specification, in its order. */
function partnerRoutes(app: App, deps: Dependencies): void {
  guardRoutes(app, deps);
  meRoute(app);
  createSubscriptionRoute(app, deps);
  listSubscriptionsRoute(app, deps);
  deleteSubscriptionRoute(app, deps);
  sendTestEventRoute(app, deps);
  listFailuresRoute(app, deps);
}
