import { Type } from "typebox";
import { getOrganizationHealth } from "../../actions/health.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { Health } from "./health-schema.ts";
import { operatorProblems } from "./operation.ts";
import { Organization, OrganizationParams } from "./organization-schema.ts";

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

export function showOrganizationRoute(app: App, deps: Dependencies): void {
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
