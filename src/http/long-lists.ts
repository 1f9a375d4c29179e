import type { preValidationHookHandler } from "fastify";
import type { App } from "./app.ts";

/**
 * Cuts each list in a body to one item more than its schema allows. The list is still refused, but the validator does not check
 * thousands of items to report twenty faults, which would cost us far more than the client.
 */
export function cutLongLists(app: App): void {
  app.addHook("onRoute", (route) => {
    const { properties = {} } = (route.schema?.body ?? {}) as Described;
    const lists = Object.entries(properties).filter(([, { maxItems }]) => maxItems !== undefined);
    if (lists.length === 0) return;
    const cut: preValidationHookHandler = ({ body }, _reply, done) => {
      for (const [name, { maxItems = Infinity }] of lists) {
        const list = (body as Body)?.[name];
        if (Array.isArray(list)) list.splice(maxItems + 1);
      }
      done();
    };
    route.preValidation = [cut, route.preValidation ?? []].flat();
  });
}

type Body = Record<string, unknown> | null | undefined;

interface Described {
  properties?: Record<string, { maxItems?: number }>;
}
