import { noSuch } from "../../domain/errors.ts";
import type { App } from "../app.ts";
import { pageRoutes } from "../docs/page-routes.ts";
import { sendFile } from "../docs/send-file.ts";
import { Site } from "../docs/site.ts";

/** The operators' web page. It needs no token, because it holds no data: it reads everything from the operator API. */
export function consoleRoutes(app: App, folder: URL): void {
  const site = new Site(folder);
  app.get("/", { schema: { hide: true } }, (_request, reply) => reply.redirect("/console"));
  pageRoutes(app, "/console", async (path, _request, reply) => {
    const file = await site.at(path);
    if (!file) throw noSuch("page");
    return sendFile(file, reply);
  });
}
