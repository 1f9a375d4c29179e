import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "../app.ts";

type Send = (path: string, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Adds routes for `root` and everything below it, with or without a final slash. API documents omit them. */
export function pageRoutes(app: App, root: string, send: Send): void {
  const options = { schema: { hide: true } };
  app.get(root, options, (request, reply) => send(root, request, reply));
  app.get<{ Params: { "*": string } }>(`${root}/*`, options, (request, reply) => {
    const rest = request.params["*"].replace(/\/$/, "");
    return send(rest === "" ? root : `${root}/${rest}`, request, reply);
  });
}

/** The path that a proxy adds in front of ours. */
export function pathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, "");
}
