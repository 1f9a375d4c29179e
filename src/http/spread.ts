import type { App } from "./app.ts";

/**
 * How a gateway answers a route for its cells:
 *
 * - `one`: from the cell that has the thing. The path names it, or the body does, by its organization or subscription.
 * - `ascending`, `descending`: with the merged pages of all cells, by the positions in their cursors.
 * - `merged`: with the merged answers of all cells. The gateway has a function for each of these operations.
 * - `first`: from the first of its cells, and no other.
 * - `own`: with a handler of its own.
 */
export type Spread = "one" | "ascending" | "descending" | "merged" | "first" | "own";

declare module "fastify" {
  interface FastifyContextConfig {
    spread?: Spread;
    /** The gateway adds `cell` to the answer, or to each item of a list. */
    namesCell?: true;
  }
}

/** Refuses to register a route that does not declare its spread, because a gateway could not serve it. */
export function requireSpread(app: App): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.spread === undefined)
      throw new Error(`a defect: ${String(method)} ${url} declares no spread for gateways`);
  });
}
