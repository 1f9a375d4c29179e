import { activityRoutes } from "../subjects/activity/routes.ts";
import { bridgeRoutes } from "../subjects/bridges/routes.ts";
import { cellRoutes } from "../subjects/cells/routes.ts";
import { CELL_HEADER } from "../subjects/cells/schema.ts";
import { deliveryRoutes } from "../subjects/deliveries/routes.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import { listEventTypesRoute } from "../subjects/event-types/routes.ts";
import { eventRoutes } from "../subjects/events/routes.ts";
import { keyRoutes } from "../subjects/keys/routes.ts";
import { operatorsOwnRoutes, signInRoute } from "../subjects/operators/routes.ts";
import type { OperatorToken, Session } from "../subjects/operators/rules.ts";
import { isSessionEnded } from "../subjects/operators/sql.ts";
import { takeTurns } from "../subjects/operators/turns.ts";
import { organizationRoutes } from "../subjects/organizations/routes.ts";
import { listProcessesRoute } from "../subjects/processes/routes.ts";
import { redeliveryRoutes } from "../subjects/redeliveries/routes.ts";
import { subscriptionRoutes } from "../subjects/subscriptions/routes.ts";
import type { App } from "./app.ts";
import { type AppOptions, buildApp, CONNECTIONS_MAX } from "./build-app.ts";
import { consoleRoutes } from "./docs/routes.ts";
import { BUILT_SITE } from "./docs/site.ts";
import { type HealthChecks, healthRoutes } from "./health.ts";
import { openApiRoute } from "./openapi.ts";
import {
  createHostCheck,
  createSignIns,
  SESSION_COOKIE,
  type SignIns,
} from "./operator-authentication.ts";
import { recordChangesOf, recordLater } from "./operator.ts";
import { requireSpread } from "./spread.ts";

/** The parts of the OpenAPI document besides the operations. */
export const OPERATOR_DOCUMENT = {
  info: {
    title: "Partner API for operators",
    version: "1.0.0",
    summary: "Organizations and their keys, subscriptions and deliveries",
    description:
      "Organizations and their keys, subscriptions and deliveries. It is served only on the operators' listener. " +
      "Lists are `{items, next_cursor}`. The console's session cookie can replace a token.",
  },
  tags: [
    { name: "Organizations", description: "Partners' accounts." },
    { name: "Keys", description: "The API keys of organizations." },
    { name: "Subscriptions", description: "The subscriptions of all organizations." },
    {
      name: "Deliveries",
      description: "Events on their way to subscriptions, and their attempts.",
    },
    { name: "Redeliveries", description: "Jobs that send many deliveries again." },
    { name: "Events", description: "Publishing events, and their deliveries." },
    {
      name: "Operation",
      description: "The health and the activity of the service, and the changes by operators.",
    },
    {
      name: "Cells",
      description: "What a gateway needs of the services that it puts together.",
    },
    { name: "Session", description: "Signing in to the console and out of it." },
  ],
  security: {
    operatorToken: {
      type: "http",
      scheme: "bearer",
      description:
        "A token of ADMIN_TOKEN, or the token in the file admin-token of the data folder.",
    },
    operatorSession: {
      type: "apiKey",
      in: "cookie",
      name: SESSION_COOKIE,
      description:
        "The cookie that `POST /session` sets. A change also needs `X-Requested-With: console`.",
    },
  },
} as const;

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
      const hasEnded = ({ nonce }: Session) => isSessionEnded(deps.db, nonce);
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
        guarded.addHook("onRequest", signIns.authenticate);
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
  const later = recordLater(app, deps);
  operatorsOwnRoutes(app, deps, { signIns, later });
  organizationRoutes(app, deps, cells);
  keyRoutes(app, deps);
  subscriptionRoutes(app, deps);
  deliveryRoutes(app, deps);
  redeliveryRoutes(app, deps);
  eventRoutes(app, deps, later);
  listEventTypesRoute(app, deps);
  cellRoutes(app, deps);
  activityRoutes(app, deps, connectionsMax);
  listProcessesRoute(app, deps);
  bridgeRoutes(app, deps);
}
