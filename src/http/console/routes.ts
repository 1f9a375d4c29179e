import type { FastifyReply, FastifyRequest } from "fastify";
import { PartnerError } from "../../domain/errors.ts";
import type { App } from "../app.ts";
import { sendFile } from "../docs/send-file.ts";
import { Site } from "../docs/site.ts";

const ROOT = "/console";
const HIDDEN = { schema: { hide: true } };

/** The operators' web page. It takes no token because it holds no data: it asks the operator API for all of it. */
export function consoleRoutes(app: App, folder: URL): void {
  const site = new Site(folder);

  app.get(ROOT, HIDDEN, (request, reply) => send(ROOT, request, reply));
  app.get<{ Params: { "*": string } }>(`${ROOT}/*`, HIDDEN, (request, reply) => {
    const rest = request.params["*"].replace(/\/$/, "");
    return send(rest === "" ? ROOT : `${ROOT}/${rest}`, request, reply);
  });

  async function send(
    path: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<unknown> {
    const file = await site.at(path);
    if (!file) throw new PartnerError("not_found", "There is no such page.");
    return sendFile(file, request, reply);
  }
}
