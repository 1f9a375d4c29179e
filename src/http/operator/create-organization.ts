import { createOrganization } from "../../actions/organizations.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import { viewOrganization } from "../../actions/views/organization.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";
import { Organization, organizationRequest } from "./organization-schema.ts";

export function createOrganizationRoute(app: App, deps: Dependencies, cells: string[]): void {
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
