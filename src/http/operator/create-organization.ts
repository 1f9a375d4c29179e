import { placeOrganization } from "../../actions/place-organization.ts";
import { named, type Shards } from "../../actions/shards.ts";
import { viewOrganization } from "../../actions/views/organization.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";
import { Organization, organizationRequest } from "./organization-schema.ts";

export function createOrganizationRoute(app: App, shards: Shards): void {
  app.post(
    "/organizations",
    {
      schema: {
        operationId: "createOrganization",
        tags: ["Organizations"],
        summary: "Create an organization",
        description: "A slug cannot be changed. Partners see it as `partner_org`.",
        body: organizationRequest(shards.all.map(({ name }) => name)),
        response: { 201: Organization, ...operatorProblems("slug_taken", ...BODY_PROBLEMS) },
      },
    },
    async (request, reply) => {
      const { slug, shard, rate_limit_per_minute: rateLimitPerMinute } = request.body;
      const placed = await placeOrganization(shards, { slug, shard, rateLimitPerMinute });
      const made = named(shards, placed, viewOrganization(placed));
      logChange(request, "create_organization", made.id);
      return reply.code(201).send(made);
    },
  );
}
