import type { App } from "../../http/app.ts";
import { operatorProblems } from "../../http/operator.ts";
import type { Dependencies } from "../dependencies.ts";
import { ProcessList } from "./schema.ts";
import { viewProcesses } from "./work.ts";

export function listProcessesRoute(app: App, deps: Dependencies): void {
  app.get(
    "/processes",
    {
      config: { spread: "merged" },
      schema: {
        operationId: "listProcesses",
        tags: ["Operation"],
        summary: "List the processes of the service",
        description:
          "Each process reports every 5 s. A process that is gone leaves the list after a day.",
        response: { 200: ProcessList, ...operatorProblems() },
      },
    },
    async () => viewProcesses(deps),
  );
}
