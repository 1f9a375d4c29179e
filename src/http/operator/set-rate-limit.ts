import { setRateLimit } from "../../actions/organizations.ts";
import { viewOrganization } from "../../actions/views/organization.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";
import { Organization, OrganizationParams, RateLimitRequest } from "./organization-schema.ts";

export function setRateLimitRoute(app: App, deps: Dependencies): void {
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
