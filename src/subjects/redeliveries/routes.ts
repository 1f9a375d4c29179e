import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { operatorOf } from "../../http/operator-authentication.ts";
import {
  forgetTypeOfNothing,
  logChange,
  operatorProblems,
  readFilters,
} from "../../http/operator.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import { CellsPageQuery, readByHand, readPageRequest } from "../../http/schema.ts";
import { parseId } from "../../lib/ids.ts";
import { Delivery, DeliveryParams } from "../deliveries/schema.ts";
import { viewDelivery } from "../deliveries/work.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Action, RequestedState } from "./rules.ts";
import {
  RedeliveriesPage,
  Redelivery,
  redeliveryBody,
  RedeliveryParams,
  RedeliveryPatch,
  RedeliveryPreview,
} from "./schema.ts";
import {
  createRedelivery,
  getRedelivery,
  pageOfRedeliveries,
  previewRedelivery,
  redeliver,
  setRedeliveryState,
} from "./work.ts";

export function redeliveryRoutes(app: App, deps: Dependencies): void {
  redeliverRoute(app, deps);
  createRedeliveryRoute(app, deps);
  listRedeliveriesRoute(app, deps);
  showRedeliveryRoute(app, deps);
  setRedeliveryStateRoute(app, deps);
}

function createRedeliveryRoute(app: App, deps: Dependencies): void {
  app.post(
    "/redeliveries",
    {
      config: { spread: "one" },
      schema: {
        operationId: "createRedelivery",
        tags: ["Redeliveries"],
        summary: "Redeliver, attempt or cancel many deliveries",
        description:
          "Starts a job for all deliveries that match, at a bounded rate. `redeliver` sends the events of finished ones again " +
          "and skips those that were already redelivered. `attempt_now` makes waiting ones due, each once. `cancel` cancels " +
          "waiting ones. One job runs at a time for each subscription; others wait.",
        body: redeliveryBody(deps.eventTypes.names),
        response: {
          200: RedeliveryPreview,
          202: Redelivery,
          ...operatorProblems(
            "not_found",
            "subscription_inactive",
            "subscription_held",
            "redelivery_limit",
            ...BODY_PROBLEMS,
          ),
        },
      },
    },
    async (request, reply) => {
      if (request.body.dry_run) {
        return reply.code(200).send(await previewRedelivery(deps, request.body));
      }
      const made = await createRedelivery(deps, request.body, operatorOf(request));
      logChange(request, CREATIONS[made.action], made.id);
      return reply.code(202).send(made);
    },
  );
}

const CREATIONS: Record<Action, string> = {
  redeliver: "create_redelivery",
  attempt_now: "attempt_deliveries",
  cancel: "cancel_deliveries",
};

function listRedeliveriesRoute(app: App, deps: Dependencies): void {
  app.get(
    "/redeliveries",
    {
      config: { spread: "descending" },
      schema: {
        operationId: "listRedeliveries",
        tags: ["Redeliveries"],
        summary: "List redeliveries",
        description: "Newest first, as far back as the retention period.",
        querystring: CellsPageQuery,
        response: { 200: RedeliveriesPage, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) =>
      pageOfRedeliveries(deps, {
        ...readFilters(query, CellsPageQuery),
        ...readPageRequest(query),
      }),
  );
}

/** The body may be omitted. */
const RedeliveryRequest = Type.Unsafe<{ to?: string } | null>({
  title: "RedeliverRequest",
  type: ["object", "null"],
  properties: {
    to: {
      type: "string",
      description: "Another active subscription of the organization, `wh_<uuid>`.",
    },
  },
  examples: [{}, { to: "wh_0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11" }],
});

function redeliverRoute(app: App, deps: Dependencies): void {
  app.post(
    "/deliveries/:id/redeliver",
    {
      config: { spread: "one" },
      onRequest: forgetTypeOfNothing,
      schema: {
        operationId: "redeliver",
        tags: ["Deliveries"],
        summary: "Redeliver the event of a delivery",
        description:
          "Creates a new delivery of the same event, with its own attempts. Only for a delivery that is " +
          "dead-lettered or cancelled, and only to an active subscription. The body is optional.",
        params: DeliveryParams,
        body: RedeliveryRequest,
        response: {
          202: Delivery,
          ...operatorProblems(
            "not_found",
            "not_redeliverable",
            "subscription_inactive",
            ...BODY_PROBLEMS,
          ),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const said = request.body?.to;
      const to = said === undefined ? undefined : parseId("wh", said);
      const made = viewDelivery(await redeliver(deps, parseId("dlv", id), to));
      logChange(request, "redeliver", id);
      return reply.code(202).send(made);
    },
  );
}

const ACTIONS: Record<RequestedState, string> = {
  paused: "pause_redelivery",
  running: "resume_redelivery",
  cancelled: "cancel_redelivery",
};

function setRedeliveryStateRoute(app: App, deps: Dependencies): void {
  app.patch(
    "/redeliveries/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "setRedeliveryState",
        tags: ["Redeliveries"],
        summary: "Pause, resume or cancel a redelivery",
        description:
          "A resumed job is `queued` while another runs for the same subscription. Cancelling does not recall sent deliveries.",
        params: RedeliveryParams,
        body: RedeliveryPatch,
        response: {
          200: Redelivery,
          ...operatorProblems("not_found", "redelivery_finished", ...BODY_PROBLEMS),
        },
      },
    },
    async (request) => {
      const state = request.body.state as RequestedState;
      const { id } = request.params;
      const changed = await setRedeliveryState(deps, parseId("rdl", id), state);
      logChange(request, ACTIONS[state], changed.id);
      return changed;
    },
  );
}

function showRedeliveryRoute(app: App, deps: Dependencies): void {
  app.get(
    "/redeliveries/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "getRedelivery",
        tags: ["Redeliveries"],
        summary: "Show a redelivery",
        description: "Its state and its progress.",
        params: RedeliveryParams,
        response: { 200: Redelivery, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => getRedelivery(deps, parseId("rdl", params.id)),
  );
}
