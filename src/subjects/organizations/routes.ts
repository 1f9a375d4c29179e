import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { logChange, operatorProblems, readFilters } from "../../http/operator.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import { CellsPageQuery, readByHand, readPageRequest } from "../../http/schema.ts";
import { publicId } from "../../lib/ids.ts";
import { getOrganizationHealth } from "../activity/health.ts";
import { Health } from "../activity/schema.ts";
import type { Dependencies } from "../dependencies.ts";
import { NAMES_MAX, pageOfOrganizations } from "../listings.ts";
import {
  Organization,
  OrganizationParams,
  organizationRequest,
  OrganizationsPage,
  RateLimitRequest,
} from "./schema.ts";
import { closeOrganization, createOrganization, setRateLimit, viewOrganization } from "./work.ts";

/** `cells`: the names that a new organization may ask for. */
export function organizationRoutes(app: App, deps: Dependencies, cells: string[]): void {
  createOrganizationRoute(app, deps, cells);
  listOrganizationsRoute(app, deps);
  setRateLimitRoute(app, deps);
  showOrganizationRoute(app, deps);
  closeOrganizationRoute(app, deps);
}

function closeOrganizationRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/organizations/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "closeOrganization",
        tags: ["Organizations"],
        summary: "Close an organization permanently",
        description:
          "Revokes its keys, deletes its subscriptions and cancels their queued deliveries. Its history " +
          "stays until `RETENTION`. Its slug cannot be used again. Closing it again changes nothing.",
        params: OrganizationParams,
        response: {
          204: Type.Null({ description: "The organization is closed." }),
          ...operatorProblems("not_found"),
        },
      },
    },
    async (request, reply) => {
      const name = request.params.id;
      const { id } = await closeOrganization(deps, name);
      logChange(request, "close_organization", publicId("org", id));
      return reply.code(204).send(null);
    },
  );
}

function createOrganizationRoute(app: App, deps: Dependencies, cells: string[]): void {
  app.post(
    "/organizations",
    {
      config: { spread: "own", namesCell: true },
      schema: {
        operationId: "createOrganization",
        tags: ["Organizations"],
        summary: "Create an organization",
        description: "A slug cannot be changed. Partners see it as `partner_org`.",
        body: organizationRequest(cells),
        response: { 201: Organization, ...operatorProblems("slug_taken", ...BODY_PROBLEMS) },
      },
    },
    async (request, reply) => {
      const { slug, rate_limit_per_minute: rateLimitPerMinute } = request.body;
      const made = viewOrganization(await createOrganization(deps, { slug, rateLimitPerMinute }));
      logChange(request, "create_organization", made.id);
      return reply.code(201).send(made);
    },
  );
}

const Query = Type.Object({
  names: Type.Optional(
    Type.String({
      description: `Only these: ids or slugs, with commas between them; at most ${NAMES_MAX}.`,
    }),
  ),
  ...CellsPageQuery.properties,
});

function listOrganizationsRoute(app: App, deps: Dependencies): void {
  app.get(
    "/organizations",
    {
      config: { spread: "ascending", namesCell: true },
      schema: {
        operationId: "listOrganizations",
        tags: ["Organizations"],
        summary: "List organizations",
        description: "Ordered by slug.",
        querystring: Query,
        response: { 200: OrganizationsPage, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) =>
      pageOfOrganizations(deps, {
        ...readFilters(query, Query),
        ...readPageRequest(query),
      }),
  );
}

function setRateLimitRoute(app: App, deps: Dependencies): void {
  app.patch(
    "/organizations/:id",
    {
      config: { spread: "one", namesCell: true },
      schema: {
        operationId: "setRateLimit",
        tags: ["Organizations"],
        summary: "Change an organization's rate limit",
        description: "The new limit applies to the next request of each key.",
        params: OrganizationParams,
        body: RateLimitRequest,
        response: { 200: Organization, ...operatorProblems("not_found", ...BODY_PROBLEMS) },
      },
    },
    async (request) => {
      const { rate_limit_per_minute: limit } = request.body;
      const { id } = request.params;
      const changed = viewOrganization(await setRateLimit(deps, id, limit));
      logChange(request, "set_rate_limit", changed.id);
      return changed;
    },
  );
}

const OrganizationDetail = Type.Object(
  {
    ...Organization.properties,
    subscriptions: Type.Integer({
      description: "The number of its subscriptions, also auto-disabled ones.",
    }),
    health: Health,
  },
  {
    title: "OrganizationDetail",
    description: "An organization, with the health of its deliveries.",
  },
);

function showOrganizationRoute(app: App, deps: Dependencies): void {
  app.get(
    "/organizations/:id",
    {
      config: { spread: "one", namesCell: true },
      schema: {
        operationId: "getOrganization",
        tags: ["Organizations"],
        summary: "Show an organization",
        description: "With the combined health of its subscriptions.",
        params: OrganizationParams,
        response: { 200: OrganizationDetail, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => getOrganizationHealth(deps, params.id),
  );
}
