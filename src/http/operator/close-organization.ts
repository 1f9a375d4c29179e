import { Type } from "typebox";
import { closeOrganization } from "../../actions/organizations.ts";
import { publicId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { logChange, operatorProblems } from "./operation.ts";
import { OrganizationParams } from "./organization-schema.ts";

export function closeOrganizationRoute(app: App, deps: Dependencies): void {
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
