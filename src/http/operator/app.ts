import { OverviewReader } from "../../actions/overview-reader.ts";
import { wasEnded } from "../../actions/sessions.ts";
import type { Session } from "../../domain/session.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { type AppOptions, buildApp, CONNECTIONS_MAX } from "../build-app.ts";
import { consoleRoutes } from "../console/routes.ts";
import { BUILT_SITE } from "../docs/site.ts";
import { type HealthChecks, healthRoutes } from "../health.ts";
import { openApiRoute } from "../openapi.ts";
import { createSignIns, type SignIns } from "./admission.ts";
import { recordChangesOf, recordLater } from "./changes.ts";
import { erasePayloadRoute } from "./erase-payload.ts";
import { closeOrganizationRoute } from "./close-organization.ts";
import { createHostCheck } from "./host-check.ts";
import { createKeyRoute } from "./create-key.ts";
import { createOrganizationRoute } from "./create-organization.ts";
import { createRedeliveryRoute } from "./create-redelivery.ts";
import { deleteSubscriptionRoute } from "./delete-subscription.ts";
import { OPERATOR_DOCUMENT } from "./document.ts";
import { listActivityRoute } from "./list-activity.ts";
import { CELL_HEADER } from "./cell-schema.ts";
import { cellRoutes } from "./cells.ts";
import { findExactlyRoute, findRoute } from "./find.ts";
import { listChangesRoute } from "./list-changes.ts";
import { listDeliveriesRoute } from "./list-deliveries.ts";
import { listEventTypesRoute } from "./list-event-types.ts";
import { listFailuresRoute } from "./list-failures.ts";
import { listKeysRoute } from "./list-keys.ts";
import { listMarksRoute } from "./list-marks.ts";
import { listOrganizationsRoute } from "./list-organizations.ts";
import { listProcessesRoute } from "./list-processes.ts";
import { listRedeliveriesRoute } from "./list-redeliveries.ts";
import { listSubscriptionsRoute } from "./list-subscriptions.ts";
import { type Exposition, metricsRoute } from "./metrics.ts";
import { takeTurns } from "./operator-turns.ts";
import type { OperatorToken } from "../../domain/operator-role.ts";
import { publishEventsRoute } from "./publish-events.ts";
import { redeliverRoute } from "./redeliver.ts";
import { revokeKeyRoute } from "./revoke-key.ts";
import { setCeilingRoute } from "./set-ceiling.ts";
import { setRedeliveryStateRoute } from "./set-redelivery-state.ts";
import { setRateLimitRoute } from "./set-rate-limit.ts";
import { showDeliveryRoute } from "./show-delivery.ts";
import { showRedeliveryRoute } from "./show-redelivery.ts";
import { showEventRoute } from "./show-event.ts";
import { showSessionRoute } from "./show-session.ts";
import { signInRoute } from "./sign-in.ts";
import { signOutRoute } from "./sign-out.ts";
import { showOrganizationRoute } from "./show-organization.ts";
import { showOverviewRoute } from "./show-overview.ts";
import { showSubscriptionRoute } from "./show-subscription.ts";
import { requireSpread } from "./spread.ts";
import { streamOverviewRoute } from "./stream-overview.ts";

export interface OperatorAppOptions extends AppOptions {
  health: HealthChecks;
  tokens: readonly OperatorToken[];
  /** Further names of this listener, in lower case. `*`: any. */
  allowedHosts: readonly string[];
  metrics: () => Promise<Exposition>;
  /** False in a process that only dispatches. It has health and metrics, but no API and no console. */
  withApi: boolean;
  /** The folder of the built console. Default: ours. */
  pages?: URL;
}

/** Builds the operators' listener. Until it listens, more routes may be added. */
export function buildOperatorApp(
  deps: Dependencies,
  {
    health,
    tokens,
    allowedHosts,
    metrics,
    withApi,
    pages = BUILT_SITE,
    maxConnections = CONNECTIONS_MAX,
    ...options
  }: OperatorAppOptions,
): App {
  const app = buildApp({ ...options, maxConnections, checkHost: createHostCheck(allowedHosts) });
  decorateForOperators(app);
  healthRoutes(app, health);
  metricsRoute(app, metrics);
  if (!withApi) return app;
  consoleRoutes(app, pages);

  app.register(
    async (api: App) => {
      const hasEnded = (session: Session) => wasEnded(deps, session);
      const signIns = createSignIns({ clock: deps.clock, hasEnded }, tokens);
      openApiRoute(api, OPERATOR_DOCUMENT, { baseUrl: SAME_SERVER, contact: CONTACT });
      // Registered after the document, which includes it.
      await api.register(async (open: App) => {
        signInRoute(open, deps, signIns);
        await open.after();
      });
      await api.register(async (guarded: App) => {
        recordChangesOf(guarded, deps);
        guarded.addHook("onRequest", (_request, reply, done) => {
          reply.header(CELL_HEADER, deps.cell);
          done();
        });
        guarded.addHook("onRequest", signIns.admit);
        takeTurns(guarded);
        operatorRoutes(guarded, deps, { signIns, connectionsMax: maxConnections });
        await guarded.after();
      });
    },
    { prefix: "/api/v1/admin" },
  );
  return app;
}

export function decorateForOperators(app: App): void {
  app.decorateRequest("role");
  app.decorateRequest("session", null);
  app.decorateRequest("mayHaveEnded", false);
  app.decorateRequest("changes", null);
  app.decorateRequest("remote", "");
  app.decorateRequest("documentFaults");
}

/** The document's server is the host that it was read from. `baseUrl` is the partners' listener. */
export const SAME_SERVER = () => "/";
export const CONTACT = { name: "The operators of this service" };

/** Adds the routes that need a token. `cells`: the names that a new organization may ask for. */
export function operatorRoutes(
  app: App,
  deps: Dependencies,
  {
    signIns,
    connectionsMax,
    cells = [deps.cell],
  }: { signIns: SignIns; connectionsMax: number; cells?: string[] },
): void {
  requireSpread(app);
  showSessionRoute(app, deps);
  signOutRoute(app, deps, signIns);
  createOrganizationRoute(app, deps, cells);
  listOrganizationsRoute(app, deps);
  setRateLimitRoute(app, deps);
  createKeyRoute(app, deps);
  listKeysRoute(app, deps);
  revokeKeyRoute(app, deps);
  listSubscriptionsRoute(app, deps);
  setCeilingRoute(app, deps);
  deleteSubscriptionRoute(app, deps);
  listFailuresRoute(app, deps);
  listDeliveriesRoute(app, deps);
  showDeliveryRoute(app, deps);
  redeliverRoute(app, deps);
  createRedeliveryRoute(app, deps);
  listRedeliveriesRoute(app, deps);
  showRedeliveryRoute(app, deps);
  setRedeliveryStateRoute(app, deps);
  const later = recordLater(app, deps);
  publishEventsRoute(app, deps, later);
  showEventRoute(app, deps);
  listEventTypesRoute(app, deps);
  listChangesRoute(app, deps, later);
  findRoute(app, deps);
  findExactlyRoute(app, deps);
  cellRoutes(app, deps);
  erasePayloadRoute(app, deps);
  const overviews = new OverviewReader(deps);
  showOverviewRoute(app, overviews);
  streamOverviewRoute(app, deps, { overviews, connectionsMax });
  listActivityRoute(app, deps);
  listProcessesRoute(app, deps);
  listMarksRoute(app, deps);
  showOrganizationRoute(app, deps);
  showSubscriptionRoute(app, deps);
  closeOrganizationRoute(app, deps);
}
