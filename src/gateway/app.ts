import type { App } from "../http/app.ts";
import { type AppOptions, buildApp, CONNECTIONS_MAX } from "../http/build-app.ts";
import { consoleRoutes } from "../http/docs/routes.ts";
import { BUILT_SITE } from "../http/docs/site.ts";
import { type HealthChecks, healthRoutes } from "../http/health.ts";
import { openApiRoute } from "../http/openapi.ts";
import { createHostCheck, createSignIns } from "../http/operator-authentication.ts";
import {
  CONTACT,
  decorateForOperators,
  type Exposition,
  metricsRoute,
  OPERATOR_DOCUMENT,
  operatorRoutes,
  SAME_SERVER,
} from "../http/operator-app.ts";
import type { Clock } from "../lib/clock.ts";
import { USER_AGENT } from "../lib/product.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import { createEventTypes } from "../subjects/event-types/rules.ts";
import { signInRoute } from "../subjects/operators/routes.ts";
import type { OperatorToken } from "../subjects/operators/rules.ts";
import { OperatorTurns, takeTurns } from "../subjects/operators/turns.ts";
import { API, type Cells } from "./cells.ts";
import { ownResponses } from "./own.ts";
import { spreadRoutes } from "./spread.ts";

/** Requests that are answered at a time, and those of one operator. Others wait. */
const TURNS = { atOnce: 32, atOnceEach: 16 };

interface GatewayAppOptions extends AppOptions {
  clock: Clock;
  health: HealthChecks;
  tokens: readonly OperatorToken[];
  allowedHosts: readonly string[];
  metrics: () => Promise<Exposition>;
  /** The folder of the built console. Default: ours. */
  pages?: URL;
}

/**
 * Builds the gateway's listener: the operators' routes of the service, answered from the cells. The cells check and record the
 * operators of requests, also if a session was ended.
 */
export function buildGatewayApp(
  cells: Cells,
  {
    clock,
    health,
    tokens,
    allowedHosts,
    metrics,
    pages = BUILT_SITE,
    maxConnections = CONNECTIONS_MAX,
    ...options
  }: GatewayAppOptions,
): App {
  const app = buildApp({ ...options, maxConnections, checkHost: createHostCheck(allowedHosts) });
  decorateForOperators(app);
  healthRoutes(app, health);
  metricsRoute(app, metrics);
  consoleRoutes(app, pages);
  app.register(
    async (api: App) => {
      const routeDeps = { clock, eventTypes: createEventTypes() } as Dependencies;
      const signIns = createSignIns({ clock, hasEnded: () => Promise.resolve(false) }, tokens);
      openApiRoute(api, OPERATOR_DOCUMENT, { baseUrl: SAME_SERVER, contact: CONTACT });
      await api.register(async (open: App) => {
        signInRoute(open, routeDeps, signIns);
        await open.after();
      });
      await api.register(async (guarded: App) => {
        guarded.addHook("onRequest", signIns.authenticate);
        const parts = { cells, clock, headers: headersOf(tokens), connectionsMax: maxConnections };
        spreadRoutes(guarded, { cells, own: ownResponses(guarded, parts) });
        takeTurns(guarded, new OperatorTurns(TURNS));
        operatorRoutes(guarded, routeDeps, {
          ...{ signIns, connectionsMax: maxConnections },
          cells: cells.all.map(({ name }) => name),
        });
        await guarded.after();
      });
    },
    { prefix: API },
  );
  return app;
}

/** The headers of the gateway's own requests. */
function headersOf(tokens: readonly OperatorToken[]): Record<string, string> {
  const [reader] = tokens.filter(({ role }) => role !== "publish");
  return reader ? { authorization: `Bearer ${reader.token}`, "user-agent": USER_AGENT } : {};
}
