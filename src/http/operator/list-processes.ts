import { viewProcesses } from "../../actions/processes.ts";
import type { Shards } from "../../actions/shards.ts";
import type { App } from "../app.ts";
import { operatorProblems } from "./operation.ts";
import { ProcessList } from "./process-schema.ts";

export function listProcessesRoute(app: App, shards: Shards): void {
  app.get(
    "/processes",
    {
      schema: {
        operationId: "listProcesses",
        tags: ["Operation"],
        summary: "List the processes of the service",
        description:
          "Each process reports every 5 s. A process that is gone leaves the list after a day.",
        response: { 200: ProcessList, ...operatorProblems() },
      },
    },
    async () => viewProcesses(shards),
  );
}
