import { PartnerError } from "../../domain/errors.ts";
import type { App } from "../app.ts";
import { pageRoutes } from "../docs/page-routes.ts";
import { sendFile } from "../docs/send-file.ts";
import { Site } from "../docs/site.ts";

/** The operators' web page. It takes no token because it holds no data: it asks the operator API for all of it. */
export function consoleRoutes(app: App, folder: URL): void {
  const site = new Site(folder);
  pageRoutes(app, "/console", async (path, _request, reply) => {
    const file = await site.at(path);
    if (!file) throw new PartnerError("not_found", "There is no such page.");
    return sendFile(file, reply);
  });
}
