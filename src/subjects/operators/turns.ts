import type { FastifyReply } from "fastify";
import type { App } from "../../http/app.ts";
import { operatorOf } from "../../http/operator-authentication.ts";
import { Crowded } from "../../lib/errors.ts";
import { FairQueue } from "../../lib/fair-queue.ts";
import { Tally } from "../../lib/tally.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route does not wait for the turn of its operator, because something else bounds its use of the database. */
    takesNoTurn?: true;
  }
}

/**
 * Requests of operators that use the database at a time, and those of one operator, so that others have one left. Its other
 * connections are for partners and deliveries.
 */
const BOUNDS = { atOnce: 3, atOnceEach: 2 };
/** Requests of one operator that may wait. They hold no connection of the database. */
const WAITING_MAX = 1_000;

/** Lets a few requests of operators use the database at a time, because a search may take long. The operators take turns. */
export class OperatorTurns {
  readonly #running = new Tally<string>();
  readonly #waiting = new Tally<string>();
  readonly #queue = new FairQueue<string, () => void>();
  readonly #bounds: typeof BOUNDS;

  constructor(bounds = BOUNDS) {
    this.#bounds = bounds;
  }

  async run<Result>(operator: string, work: () => Result | Promise<Result>): Promise<Result> {
    if (this.#mayBegin(operator)) this.#running.add(operator);
    else await this.#wait(operator);
    try {
      return await work();
    } finally {
      this.#running.remove(operator);
      this.#queue.take((waiting) => this.#mayBegin(waiting))?.();
    }
  }

  /** Resolves when the turn has begun. */
  #wait(operator: string): Promise<void> {
    if (this.#waiting.of(operator) >= WAITING_MAX)
      throw new Crowded("Too many requests with this token are waiting: try again.");
    this.#waiting.add(operator);
    return new Promise((begin) => {
      this.#queue.add(operator, () => {
        this.#waiting.remove(operator);
        this.#running.add(operator);
        begin();
      });
    });
  }

  #mayBegin(operator: string): boolean {
    const { atOnce, atOnceEach } = this.#bounds;
    return this.#running.total < atOnce && this.#running.of(operator) < atOnceEach;
  }
}

/**
 * Makes the handlers of routes that are added later wait for their turns. A turn lasts until the handler has returned, even if
 * the client has gone, because its statement goes on. A request whose client has gone before its turn does nothing, and so does
 * one that was refused because it waited too long.
 */
export function takeTurns(app: App, turns = new OperatorTurns()): void {
  app.addHook("onRoute", (route) => {
    const { handler, config } = route;
    if (config?.takesNoTurn ?? config?.answersWithoutDatabase) return;
    route.handler = (request, reply) =>
      turns.run(operatorOf(request), () =>
        isOver(reply) ? undefined : handler.call(app, request, reply),
      );
  });
}

function isOver({ sent, raw }: FastifyReply): boolean {
  return sent || raw.destroyed;
}
